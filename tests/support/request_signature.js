import { createHash, createHmac, randomBytes } from 'node:crypto';

/**
 * Signed requests and proofs of docs/http.md, made with Node's cryptography and without the code of
 * the gateway, the extension or the bridge.
 */

const digestOf = (bytes) => createHash('sha256').update(bytes).digest('hex');
const macOf = (token, ...lines) =>
  createHmac('sha256', token).update(lines.join('\n')).digest('hex');

/** The Authorization header of a request, and its nonce. */
export function signRequest(token, { method, host, target, body = '', time = Date.now(), nonce }) {
  nonce ??= randomBytes(16).toString('hex');
  const key = digestOf(token).slice(0, 12);
  const mac = macOf(token, 'callslip request 1', method, host, target, time, nonce, digestOf(body));
  const authorization =
    `Callslip-HMAC key="${key}", time="${time}", nonce="${nonce}", mac="${mac}"`;
  return { authorization, nonce };
}

/** The expected header Callslip-Proof of an answer; without `body`, of a streamed one. */
export function proofOf(token, { nonce, status, body }) {
  return macOf(token, 'callslip answer 1', nonce, status,
    body === undefined ? 'stream' : digestOf(body));
}

/** The nonce in an Authorization header; undefined if there is none. */
export function nonceIn(authorization = '') {
  return authorization.match(/^Callslip-HMAC .*nonce="([0-9a-f]{32})"/)?.[1];
}
