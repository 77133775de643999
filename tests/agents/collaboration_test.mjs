/** Two agents: one asks the other through the gateway's tools, waits, and reads its answer. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { stretched } from '../support/patience.js';
import { opencode } from './support/agents.js';
import { Setting } from './support/setting.js';

/** A rough count of tokens: four characters each. */
const tokensOf = (texts) => Math.ceil(texts.join('').length / 4);

async function asks(setting, context) {
  const { sessions } = setting;
  const [asker, asked] = [await setting.begin(), await setting.begin()];
  const session = (args) =>
    ({ call: opencode.tool('session'), args: { session_id: asked, ...args } });
  const question = JSON.stringify([{ say: 'Ask me ' }, { say: 'again.' }]);
  const script = [session({ what: 'enqueue', message: question }),
    session({ what: 'wait', wait_ms: 30_000 }), session({ what: 'read', limit: 10 })];
  await sessions.say(asker, [...script, { repeat: true }]);
  const [turn] = await setting.ended(asker);
  assert.equal(turn.outcome, 'completed');
  assert.equal(await sessions.answer(asked), 'Ask me again.');
  const [, page] = (await sessions.answer(asker)).split(/\n(.*)/s);
  const texts = JSON.parse(page).events.filter(({ type }) => type === 'agent_message')
    .map(({ data }) => data.text);
  assert.equal(texts.join(''), 'Ask me again.');
  const calls = (await setting.events(asker)).filter(({ type }) => type === 'tool_call');
  assert.equal(calls.length, 3);
  // The asker did not address its own session.
  assert.equal((await sessions.turns(asked)).length, 1);
  const { results } = setting.model.asked.findLast(({ script }) => script.length > 2);
  assert.equal(results.length, 3);
  const said = script.map(({ args }) => JSON.stringify(args));
  context.diagnostic(`${calls.length} calls, some ${tokensOf(said)} tokens said and ${tokensOf(results)} `
    + `read, of which the answer is ${tokensOf(texts)}`);
}

test('an agent asks another agent, and reads its answer', { timeout: stretched(120_000) },
  async (context) => {
  const setting = await Setting.open(opencode);
  try {
    await setting.step(() => asks(setting, context));
  } finally {
    await setting.close();
  }
});
