import assert from 'node:assert/strict';
import { beforeEach, describe, test } from 'node:test';
import { createStandInScripts } from '../../extension/src/stand_in_scripts.js';

let calls;
let frames;
let scripting;
let scripts;

/** `frames` by document: the scripts that it has, and whether scripts may run in it. */
beforeEach(() => {
  calls = [];
  frames = new Map([['A', {}], ['B', { page: true, relay: true }]]);
  scripting = {
    async unregisterContentScripts() { calls.push('none'); },
    async registerContentScripts(list) {
      if (scripting.isOld && list.some((script) => 'matchOriginAsFallback' in script)) throw new Error('Unexpected property');
      calls.push(list.map(({ js, world }) => `${js.map((file) => file.split('/').at(-1)).join('+')} ${world ?? ''}`.trim()));
    },
    async executeScript({ target, files, world, args }) {
      const wanted = [...frames].filter(([id]) => target.documentIds?.includes(id) ?? true);
      if (files) calls.push(`${world ?? 'own'} in ${wanted.map(([id]) => id)}`);
      return wanted.map(([documentId, frame]) => {
        if (files && world === 'MAIN') frame.page = !frame.mute;
        if (files && world !== 'MAIN') frame.relay = true;
        if (args) frame.order = args[0];
        return { documentId, result: { page: frame.page } };
      });
    },
  };
  scripts = createStandInScripts({ scripting, log: (text) => calls.push(text) });
});

describe('stand-in scripts', () => {
  test('are registered for new documents as long as they are needed', async () => {
    await scripts.begin('dismiss');
    await scripts.begin('dismiss');
    await scripts.begin('accept');
    await scripts.begin(null);
    const relay = 'cut_text.js+relay.js';
    assert.deepEqual(calls, [
      'none', 'none', [relay, 'stand_ins.js MAIN'], 'none', [`accept.js+${relay}`, 'stand_ins.js MAIN'], 'none',
    ]);
  });

  test('are registered in older browsers as well', async () => {
    scripting.isOld = true;
    await scripts.begin('dismiss');
    assert.deepEqual(calls.at(-1), ['cut_text.js+relay.js', 'stand_ins.js MAIN']);
  });

  test('are injected once into documents that have none', async () => {
    const order = { ms: 5, dialog: 'accept' };
    await scripts.order(7, order);
    assert.deepEqual(calls.slice(1), ['own in A', 'MAIN in A']);
    assert.deepEqual(frames.get('A').order, order);
    await scripts.order(7, order);
    assert.equal(calls.length, 3);
  });

  test('are not injected again into a page that cannot run scripts', async () => {
    frames.set('A', { mute: true });
    for (const ms of [5, 5, 0]) await scripts.order(7, { ms });
    assert.equal(calls.length, 3);
    assert.deepEqual(frames.get('B').order, { ms: 0 });
  });
});
