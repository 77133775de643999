import { invalidParams } from './errors.js';
import { hasGap } from './secrets.js';

/** The checks that several actions share. Each throws invalid_params, which names the field. */

export function requireText(params, field) {
  if (typeof params[field] !== 'string') throw invalidParams(field, 'must be a string');
}

export function requireNonEmptyText(params, field) {
  requireText(params, field);
  if (params[field].trim() === '') throw invalidParams(field, 'must not be empty');
}

export function optionalNonEmptyText(params, field) {
  if (isGiven(params, field)) requireNonEmptyText(params, field);
}

/** At least one of the fields must be given. */
export function requireAnyOf(params, fields) {
  if (fields.some((field) => isGiven(params, field))) return;
  throw invalidParams(fields[0], `must be there, or ${fields.slice(1).join(' or ')} instead`);
}

export function optionalBoolean(params, field) {
  if (!['undefined', 'boolean'].includes(typeof params[field])) {
    throw invalidParams(field, 'must be true or false');
  }
}

export function optionalText(params, field, limitChars) {
  if (!isGiven(params, field)) return;
  requireText(params, field);
  if (params[field].length > limitChars) {
    throw invalidParams(field, `must have at most ${limitChars} characters`);
  }
}

export function optionalTexts(params, field, limit, limitChars) {
  if (!isGiven(params, field)) return;
  const list = params[field];
  const fits = (text) => typeof text === 'string' && text !== '' && text.length <= limitChars;
  if (!Array.isArray(list) || list.length > limit || !list.every(fits)) {
    throw invalidParams(field, `must be a list of at most ${limit} texts`);
  }
}

export function optionalInteger(params, field, { least, most }) {
  if (!isGiven(params, field)) return;
  const value = params[field];
  if (!Number.isInteger(value) || value < least || value > most) {
    throw invalidParams(field, `must be a whole number from ${least} to ${most}`);
  }
}

export function optionalNumber(params, field) {
  if (isGiven(params, field) && !Number.isFinite(params[field])) {
    throw invalidParams(field, 'must be a number');
  }
}

export function optionalOneOf(params, field, allowed) {
  if (isGiven(params, field) && !allowed.includes(params[field])) {
    throw invalidParams(field, `must be one of ${allowed.join(', ')}`);
  }
}

export function requireTabId({ tab_id: tabId }) {
  if (tabId === undefined || tabId === null) return;
  if (!Number.isInteger(tabId) || tabId < 0) {
    throw invalidParams('tab_id', 'must be the number of a tab');
  }
}

const NAVIGABLE = ['http:', 'https:'];

export function requirePageUrl(params, field) {
  requireNonEmptyText(params, field);
  const text = params[field];
  const allowed = text === 'about:blank' || NAVIGABLE.includes(protocolOf(text));
  if (!allowed) throw invalidParams(field, 'must be an http or https address, or about:blank');
  requireNoGap(params, field, 'use the tab or the link that has all of it');
}

/** Rejects an address as reported to agents if secrets were omitted from it; `instead` states what to do. */
export function requireNoGap(params, field, instead) {
  if (isGiven(params, field) && hasGap(params[field])) {
    throw invalidParams(field, `has an omitted secret; ${instead}`);
  }
}

export function isGiven(params, field) {
  return params[field] !== undefined && params[field] !== null;
}

function protocolOf(text) {
  try {
    return new URL(text).protocol;
  } catch {
    return null;
  }
}
