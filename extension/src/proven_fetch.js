import { createSigner } from './signature.js';

/** The program at the address of the gateway does not know the token: nothing in its answer is trusted. */
export class SpoofedGateway extends Error {}

const encoder = new TextEncoder();

/**
 * Requests to one gateway: `(path, {method, headers, body, signal})`, with text as the body, resolves to
 * `{status, text}`. Rejects as fetch does if nothing answers. With a token, it signs each request instead
 * of sending the token, and rejects with SpoofedGateway unless the answer is proven; without a token,
 * every answer is trusted.
 */
export function createProvenFetch({ serverUrl, token, fetch, wallNow }) {
  const root = serverUrl.replace(/\/+$/, '');
  const signer = token ? createSigner({ token, wallNow }) : null;

  async function once(path, { method = 'GET', headers = {}, body, signal }) {
    const url = root + path;
    const signed = await signer?.sign({ method, url, body: encoder.encode(body ?? '') });
    const response = await fetch(url, {
      method,
      headers: signed ? { ...headers, Authorization: signed.authorization } : headers,
      body,
      cache: 'no-store',
      credentials: 'omit',
      redirect: 'error',
      signal,
    });
    const { status } = response;
    const bytes = new Uint8Array(await response.arrayBuffer());
    const proof = response.headers.get('Callslip-Proof');
    if (signed && !(await signed.proves({ status, proof, body: bytes }))) {
      throw new SpoofedGateway(`What answers at ${root} does not know the token.`);
    }
    return { status, text: new TextDecoder().decode(bytes) };
  }

  return async function provenFetch(path, options = {}) {
    const answer = await once(path, options);
    const time = signer && answer.status === 401 ? serverTimeIn(answer.text) : null;
    if (time === null) return answer;
    // The gateway has done nothing except report that our clock is off.
    signer.correctClock(time);
    return once(path, options);
  };
}

/** The gateway's time in ms since 1970 if it rejected a request because of its time, else null. */
function serverTimeIn(text) {
  try {
    const { error, server_time_ms: time } = JSON.parse(text);
    return error === 'signature_stale' && Number.isSafeInteger(time) ? time : null;
  } catch {
    return null;
  }
}
