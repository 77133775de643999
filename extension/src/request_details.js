import { BODY_BYTES, BODY_READ_BYTES, DETAILS_CHARS, HEADER_CHARS } from './limits.js';
import { isSecretName, OMITTED, shownAddress, shownValue } from './secrets.js';
import { cutText } from './text.js';

/** A form as text; a name without a value could be anything. */
const FORM = /^[^=&\s]+=[^=&\s]+(&[^=&\s]+=[^=&\s]*)*$/;

/**
 * Remembers headers and bodies of requests, without the secrets in them. It keeps at most DETAILS_CHARS in
 * total, and drops the oldest first.
 */
export function createRequestDetails() {
  /** By a key of the caller, the oldest first. */
  const kept = new Map();
  let chars = 0;

  const sizeOf = (details) => JSON.stringify(details).length;

  function forget(key) {
    if (!kept.has(key)) return;
    chars -= kept.get(key).size;
    kept.delete(key);
  }

  return {
    /** Adds members to the details of a request. */
    add(key, members) {
      const details = { ...kept.get(key)?.details, ...members };
      forget(key);
      const size = sizeOf(details);
      kept.set(key, { details, size });
      chars += size;
      while (chars > DETAILS_CHARS) forget(kept.keys().next().value);
    },

    of: (key) => kept.get(key)?.details ?? {},

    forget,
  };
}

/** Headers as an object, by their names in lower case; `list` is as webRequest provides it. */
export function shownHeaders(list = []) {
  const headers = {};
  for (const { name, value } of list) {
    const key = name.toLowerCase();
    const shown = isSecretName(key) ? OMITTED : shownAddress(cutText(value ?? '', HEADER_CHARS));
    headers[key] = key in headers && shown !== OMITTED ? `${headers[key]}, ${shown}` : shown;
  }
  return headers;
}

/**
 * The body of a request as text, or undefined if it has none; `body` is as webRequest provides it. Secrets
 * cannot be found in a body that is neither a form nor JSON, so only its length is reported.
 */
export function shownBody(body) {
  if (body?.formData) {
    return cut(shownForm(Object.entries(body.formData).flatMap(([name, values]) =>
      values.map((value) => [name, value]))));
  }
  const parts = (body?.raw ?? []).flatMap(({ bytes }) => (bytes ? [bytes] : []));
  if (parts.length === 0) return undefined;
  const length = parts.reduce((sum, { byteLength }) => sum + byteLength, 0);
  if (length > BODY_READ_BYTES) return `(${length} bytes, too long to be looked through)`;
  const decoder = new TextDecoder();
  const text = parts.map((bytes) => decoder.decode(bytes, { stream: true })).join('') + decoder.decode();
  const json = parsed(text);
  if (typeof json === 'object' && json !== null) return cut(JSON.stringify(shownValue(json)));
  if (FORM.test(text)) return cut(shownForm([...new URLSearchParams(text)]));
  return `(${length} bytes, neither a form nor JSON)`;
}

function parsed(text) {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function shownForm(fields) {
  const shown = fields.map(([name, value]) => {
    if (isSecretName(name)) return [name, OMITTED];
    return [name, typeof value === 'string' ? shownValue(value) : `(${value.byteLength} bytes)`];
  });
  return new URLSearchParams(shown).toString();
}

function cut(text) {
  return text.length > BODY_BYTES ? `${cutText(text, BODY_BYTES)}…` : text;
}
