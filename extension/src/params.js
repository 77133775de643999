import { invalidParams } from './errors.js';

/** The checks that several actions share. Each throws invalid_params, which names the field. */

export function requireText(params, field) {
  if (typeof params[field] !== 'string') throw invalidParams(field, 'must be a string');
}

export function requireNonEmptyText(params, field) {
  requireText(params, field);
  if (params[field].trim() === '') throw invalidParams(field, 'must not be empty');
}

export function optionalBoolean(params, field) {
  if (!['undefined', 'boolean'].includes(typeof params[field])) {
    throw invalidParams(field, 'must be true or false');
  }
}

export function optionalText(params, field, limitChars) {
  if (params[field] === undefined) return;
  requireText(params, field);
  if (params[field].length > limitChars) {
    throw invalidParams(field, `must have at most ${limitChars} characters`);
  }
}

export function optionalTexts(params, field, limit, limitChars) {
  const list = params[field];
  if (list === undefined) return;
  const fits = (text) => typeof text === 'string' && text !== '' && text.length <= limitChars;
  if (!Array.isArray(list) || list.length > limit || !list.every(fits)) {
    throw invalidParams(field, `must be a list of at most ${limit} texts`);
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
}

function protocolOf(text) {
  try {
    return new URL(text).protocol;
  } catch {
    return null;
  }
}
