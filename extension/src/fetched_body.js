import { BODY_BYTES, FETCH_AGAIN_MS } from './limits.js';

const TEXT = /^(text\/|application\/([\w.+-]*\+)?(json|xml|javascript|x-www-form-urlencoded|graphql)|image\/svg)/i;

/**
 * The current response of an address, requested with the cookies of the browser: `{status, type, body,
 * truncated, fetched_again: true}`, without `body` if it is not text. Without a response in time it is
 * `{fetched_again: false, reason}`. Redirects are not followed.
 */
export async function fetchedBody(url, { fetch, signal }) {
  const ended = new AbortController();
  const stop = AbortSignal.any([signal, ended.signal, AbortSignal.timeout(FETCH_AGAIN_MS)]);
  try {
    const answer = await fetch(url, { credentials: 'include', redirect: 'manual', signal: stop });
    if (answer.type === 'opaqueredirect') return notAgain('the address now leads to another one');
    const type = answer.headers.get('content-type') ?? '';
    const shown = { status: answer.status, type };
    if (!TEXT.test(type)) return { ...shown, fetched_again: true };
    return { ...shown, ...await textOf(answer), fetched_again: true };
  } catch (error) {
    return notAgain(String(error.message ?? error));
  } finally {
    ended.abort();
  }
}

export function notAgain(reason) {
  return { fetched_again: false, reason };
}

async function textOf({ body }) {
  const reader = body?.getReader();
  const decoder = new TextDecoder();
  let text = '';
  let bytes = 0;
  while (reader && bytes <= BODY_BYTES) {
    const { value, done } = await reader.read();
    if (done) return { body: text + decoder.decode(), truncated: false };
    text += decoder.decode(value.subarray(0, BODY_BYTES - bytes), { stream: true });
    bytes += value.byteLength;
  }
  return { body: text, truncated: Boolean(reader) };
}
