import { cutText } from './text.js';

const NAME_CHARS = 200;

/** Content types that no browser displays in a tab by itself. */
const SAVED = /^application\/(octet-stream|zip|x-|vnd\.(ms-|openxml)|gzip|msword)/i;

/**
 * The name of the file as which a response for a tab is saved, or undefined if it is displayed. Judged by
 * the headers, as the browser does, as far as they determine it.
 */
export function downloadName(url, headers) {
  const isAttachment = /^\s*attachment\b/i.test(valueOf(headers, 'content-disposition'));
  if (!isAttachment && !SAVED.test(valueOf(headers, 'content-type'))) return undefined;
  return savedName(url, headers);
}

/** The file name of a response that is saved. */
export function savedName(url, headers) {
  return plain(nameIn(valueOf(headers, 'content-disposition')) || lastPart(url) || 'download');
}

function valueOf(headers, wanted) {
  return headers.find(({ name }) => name.toLowerCase() === wanted)?.value ?? '';
}

function nameIn(disposition) {
  const [, encoded] = /filename\*\s*=\s*[\w-]+'[^']*'([^;\s]+)/i.exec(disposition) ?? [];
  if (encoded) return decoded(encoded);
  const [, quoted, word] = /filename\s*=\s*(?:"((?:[^"\\]|\\.)*)"|([^;\s]+))/i.exec(disposition) ?? [];
  return quoted?.replace(/\\(.)/g, '$1') ?? word;
}

function lastPart(url) {
  return decoded(new URL(url).pathname.split('/').at(-1));
}

function decoded(text) {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

function plain(name) {
  return cutText(name.replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}/\\]+/gu, '_'), NAME_CHARS);
}
