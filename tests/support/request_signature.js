import { createHash, createHmac, randomBytes } from 'node:crypto';

/**
 * Signed requests and proofs as docs/http.md has them, made with Node's cryptography: neither the
 * gateway's code nor the extension's nor the bridge's.
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

/** What the header Callslip-Proof of an answer has to be; without `body`, of one that is streamed. */
export function proofOf(token, { nonce, status, body }) {
  return macOf(token, 'callslip answer 1', nonce, status,
    body === undefined ? 'stream' : digestOf(body));
}

/** The nonce in an Authorization header; undefined where there is none. */
export function nonceIn(authorization = '') {
  return authorization.match(/^Callslip-HMAC .*nonce="([0-9a-f]{32})"/)?.[1];
}
