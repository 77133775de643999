import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { describe, test } from 'node:test';
import { createSigner } from '../../extension/src/signature.js';

/** The C++ tests use the same vectors. */
const vectors = JSON.parse(
  await readFile(new URL('../vectors/request_signatures.json', import.meta.url), 'utf8'));

const bytes = (text) => new TextEncoder().encode(text);

describe('signatures', () => {
  for (const [i, vector] of vectors.requests.entries()) {
    test(`match the vector of request ${i}`, async () => {
      const { token, method, host, target, time_ms: time, nonce, body, authorization } = vector;
      const signer = createSigner({ token, wallNow: () => time, nonce: () => nonce });
      const url = `http://${host}${target}`;
      const signed = await signer.sign({ method, url, body: bytes(body) });
      assert.equal(signed.authorization, authorization);
    });
  }

  test('have a new nonce each, and use the corrected time', async () => {
    const signer = createSigner({ token: 'x'.repeat(32), wallNow: () => 1_000 });
    const sign = async () => (await signer.sign({ method: 'GET', url: 'http://a/' })).authorization;
    assert.notEqual(await sign(), await sign());
    assert.match(await sign(), / time="1000",/);
    signer.correctClock(90_000);
    assert.match(await sign(), / time="90000",/);
  });
});

describe('proofs', () => {
  for (const [i, vector] of vectors.answers.entries()) {
    // The extension reads no streams.
    if (vector.body === null) continue;
    test(`are accepted only if they match the vector of answer ${i}`, async () => {
      const { token, nonce, status, body, proof } = vector;
      const signer = createSigner({ token, nonce: () => nonce });
      const { proves } = await signer.sign({ method: 'GET', url: 'http://a/' });
      assert.equal(await proves({ status, proof, body: bytes(body) }), true);
      const flipped = (proof[0] === '0' ? '1' : '0') + proof.slice(1);
      for (const wrong of [
        { status, proof: flipped, body: bytes(body) },
        { status: status + 1, proof, body: bytes(body) },
        { status, proof, body: bytes(`${body} `) },
        { status, proof: null, body: bytes(body) },
        { status, proof: '', body: bytes(body) },
        { status, proof: proof.slice(2), body: bytes(body) },
        { status, proof: `${proof}00`, body: bytes(body) },
        { status, proof: 'x'.repeat(64), body: bytes(body) },
      ]) {
        assert.equal(await proves(wrong), false);
      }
      const other = createSigner({ token: `${token}x`, nonce: () => nonce });
      const elsewhere = await other.sign({ method: 'GET', url: 'http://a/' });
      assert.equal(await elsewhere.proves({ status, proof, body: bytes(body) }), false);
    });
  }
});
