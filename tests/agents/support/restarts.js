import assert from 'node:assert/strict';
import { test } from 'node:test';
import { stretched } from '../../support/patience.js';
import { Setting } from './setting.js';

const ROUNDS = Number(process.env.CALLSLIP_AGENT_ROUNDS ?? 2);

/**
 * An agent keeps its context when its runner returns, and nothing is recorded twice. `change` as of
 * Setting.open(); with `kills` every second restart is a kill.
 */
export function checkRestarts(name, agent, { change, kills = true, rounds = ROUNDS } = {}) {
  test(name, { timeout: stretched(60_000 + rounds * 30_000) }, async () => {
    const workspace = { permissions: { default: 'allow_once' } };
    const setting = await Setting.open(agent, { change, workspace });
    try {
      await setting.step(() => restarts(setting, rounds, kills));
    } finally {
      await setting.close();
    }
  });
}

async function restarts(setting, rounds, kills) {
  const { agent, model, runner, sessions } = setting;
  const id = await setting.begin();
  const said = [];
  let known;
  for (let round = 0; round <= rounds; ++round) {
    if (round > 0) {
      await (kills && round % 2 ? runner.kill() : runner.stop());
      await agent.passes?.(setting.home);
      await runner.start();
    }
    await sessions.say(id, [{ say: `Round ${round}. ` },
      { call: agent.tool('session'), args: { what: 'list' } }, { say: 'Listed.' }]);
    const turns = await setting.ended(id, round + 1);
    assert.equal(turns[round].outcome, 'completed');
    said.push(`Round ${round}. Listed.`);
    // The model got the whole conversation.
    assert.equal(model.asked.at(-1).prompts, round + 1);
    const now = (await sessions.agent(id)).agent_session_id;
    assert.equal(now, known ??= now);
  }
  const log = await setting.events(id);
  const texts = [];
  for (const { type, data } of log) {
    if (type === 'user_prompt') texts.push('');
    if (type === 'agent_message') texts[texts.length - 1] += data.text;
  }
  assert.deepEqual(texts, said);
  // gemini-cli reports a tool call that needs permission with an update first.
  const calls = log.filter(({ type }) => /^tool_call/.test(type));
  assert.equal(new Set(calls.map(({ data }) => data.tool_call_id)).size, said.length);
  assert.equal(log.filter(({ type }) => type === 'context_lost').length, 0);
}
