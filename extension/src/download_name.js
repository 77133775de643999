import { cutText } from './text.js';

const NAME_CHARS = 200;

/** What no browser shows in a tab by itself. */
const SAVED = /^application\/(octet-stream|zip|x-|vnd\.(ms-|openxml)|gzip|msword)/i;

/**
 * The name of the file as which an answer for a tab is saved, or undefined where it is shown. By its
 * headers: the way that the browser goes, as far as they tell.
 */
export function downloadName(url, headers) {
  const valueOf = (wanted) =>
    headers.find(({ name }) => name.toLowerCase() === wanted)?.value ?? '';
  const disposition = valueOf('content-disposition');
  const isAttachment = /^\s*attachment\b/i.test(disposition);
  if (!isAttachment && !SAVED.test(valueOf('content-type'))) return undefined;
  return plain(nameIn(disposition) || lastPart(url) || 'download');
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
