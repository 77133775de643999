const encoder = new TextEncoder();

function hexOf(buffer) {
  return Array.from(new Uint8Array(buffer), (byte) => byte.toString(16).padStart(2, '0')).join('');
}

async function digestOf(bytes) {
  return hexOf(await crypto.subtle.digest('SHA-256', bytes));
}

/** The identifier of a token at the gateway, which does not reveal it: 12 digits of its SHA-256. */
async function fingerprintOf(token) {
  return (await digestOf(encoder.encode(token))).slice(0, 12);
}

function newNonce() {
  return hexOf(crypto.getRandomValues(new Uint8Array(16)));
}

/**
 * Signs requests with a token, which itself is never sent, and verifies that their answers come from a
 * sender that knows it too: see "Signed requests" in docs/http.md. `wallNow` returns the time in ms since
 * 1970. Never rejects because of data from the gateway.
 */
export function createSigner({ token, wallNow = Date.now, nonce = newNonce }) {
  const algorithm = { name: 'HMAC', hash: 'SHA-256' };
  const ready = Promise.all([
    crypto.subtle.importKey('raw', encoder.encode(token), algorithm, false, ['sign', 'verify']),
    fingerprintOf(token),
  ]);
  let aheadMs = 0;

  return {
    /**
     * The Authorization header of a request, and `proves({status, proof, body})`, which resolves to whether
     * an answer to it is proven. Both bodies are bytes.
     */
    async sign({ method, url, body = new Uint8Array() }) {
      const [key, fingerprint] = await ready;
      const { host, pathname, search } = new URL(url);
      const time = String(Math.round(wallNow() + aheadMs));
      const own = nonce();
      const lines = ['callslip request 1', method, host, pathname + search, time, own,
        await digestOf(body)];
      const mac = hexOf(await crypto.subtle.sign('HMAC', key, encoder.encode(lines.join('\n'))));
      return {
        authorization:
          `Callslip-HMAC key="${fingerprint}", time="${time}", nonce="${own}", mac="${mac}"`,
        async proves({ status, proof, body: answer }) {
          if (!/^[0-9a-f]{64}$/.test(proof ?? '')) return false;
          const proven = ['callslip answer 1', own, status, await digestOf(answer)].join('\n');
          const given = Uint8Array.from(proof.match(/../g), (digits) => parseInt(digits, 16));
          return crypto.subtle.verify('HMAC', key, given, encoder.encode(proven));
        },
      };
    },

    /** From now on signs with the gateway's time, which a proven answer has reported. */
    correctClock(serverTimeMs) {
      aheadMs = serverTimeMs - wallNow();
    },
  };
}
