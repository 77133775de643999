import assert from 'node:assert/strict';
import { beforeEach, describe, mock, test } from 'node:test';
import { actions } from '../../extension/src/actions/index.js';
import { createAttendance } from '../../extension/src/attendance.js';
import { BLOCKED_AFTER_MS, BLOCKED_MIDWAY_MS } from '../../extension/src/limits.js';
import { settled } from './support/settled.mjs';

let log;
let entered;
let answers;
let attendance;

beforeEach(() => {
  mock.timers.reset();
  mock.timers.enable({ apis: ['setTimeout'] });
  log = [];
  entered = async () => {};
  answers = async () => {};
  const watch = {
    enter(tabId) {
      log.push(`enter ${tabId}`);
      return entered();
    },
    end: () => log.push('end'),
  };
  attendance = createAttendance({
    browser: { scripting: { executeScript: () => answers() } },
    standIns: {
      async begin({ dialog, timeoutMs }) {
        log.push(`begin ${dialog} ${timeoutMs}`);
        return watch;
      },
    },
    reports: {
      begin: async ({ view, isNew }) => ({
        settle: async () => { log.push('settle'); },
        finish: async (done) => ({ changed: done !== 'idle', text: `${done} ${view} ${isNew}` }),
      }),
    },
    now: () => 0,
  });
});

const never = () => new Promise(() => {});
const signal = new AbortController().signal;

/** Attends an action whose run returns the data; `run` gets the notes on the command. */
function attend(action, { params = { action: 'act' }, run = {}, data } = {}) {
  const whole = { run: async () => ({ url: 'u', data }), ...action };
  const attended = attendance.attend({ action: whole, params, timeoutMs: 5_000 });
  return attended.run({ tab: { id: 7 }, params, signal, progress() {} }, run);
}

/** Advances time in small steps, since timers start other timers. */
async function pass(ms) {
  for (let at = 0; at < ms; at += 100) {
    await settled();
    mock.timers.tick(100);
  }
  await settled();
}

describe('attendance', () => {
  test('an action runs once its page is notified, and its result is unchanged', async () => {
    const action = { run: async ({ tab }) => ({ url: 'u', data: log.push(`run ${tab.id}`) }) };
    assert.deepEqual(await attend(action, { params: { dialog: 'accept' } }), { url: 'u', data: 3 });
    assert.deepEqual(log, ['begin accept 5000', 'enter 7', 'run 7']);
  });

  test('the report of the effects replaces the description of the action', async () => {
    const data = { done: 'clicked it', x: 1 };
    const result = await attend({ reported: true }, { data, params: { view: 'page' } });
    assert.deepEqual(result.data, { x: 1, page: 'clicked it page false' });
  });

  test('an action without a description is reported by its name and selector', async () => {
    const params = { action: 'click', selector: '#go' };
    const { data } = await attend({ reported: true, openTab() {} }, { params, data: 'text' });
    assert.deepEqual(data, { page: 'click #go undefined true' });
  });

  test('a report beside data of any form is added only if something changed', async () => {
    const run = {};
    const first = await attend({ reported: 'beside' }, { data: 5, params: { action: 'idle' }, run });
    assert.deepEqual([first.data, run.page], [5, undefined]);
    await attend({ reported: 'beside' }, { data: [], run });
    assert.equal(run.page, 'act undefined false');
  });

  test('an action can wait for the page to settle', async () => {
    await attend({ reported: true, run: ({ settle }) => settle() });
    assert.equal(log.at(-1), 'settle');
  });

  test('a page that does not respond is reported as blocked before the action runs', async () => {
    entered = never;
    answers = never;
    const refused = assert.rejects(attend({ run: never }), { code: 'page_blocked', mayHaveExecuted: false });
    await pass(BLOCKED_AFTER_MS);
    await refused;
  });

  test('a page in which only a frame does not respond is not blocked', async () => {
    entered = never;
    const done = attend({}, { data: 1 });
    await pass(BLOCKED_AFTER_MS);
    assert.equal((await done).data, 1);
  });

  test('an action that leaves the page runs even if the page does not respond', async () => {
    entered = never;
    answers = never;
    const done = attend({ leavesPage: true }, { data: 1 });
    await pass(BLOCKED_AFTER_MS);
    assert.equal((await done).data, 1);
  });

  test('a page that stops responding ends the action, unless it may block the page', async () => {
    answers = never;
    const refused = assert.rejects(attend({ run: never }), { code: 'page_blocked', mayHaveExecuted: true });
    let ended = false;
    attend({ run: never, mayBlock: true }).finally(() => { ended = true; });
    await pass(BLOCKED_MIDWAY_MS + 2_000);
    await refused;
    assert.equal(ended, false);
  });

  test('a page can be busy for a while', async () => {
    const done = attend({ run: () => new Promise((resolve) => { setTimeout(resolve, 8_000, { data: 1 }); }) });
    await pass(9_000);
    assert.equal((await done).data, 1);
  });

  test('the parameters that all actions share are checked', () => {
    attendance.check({ reported: true }, { dialog: 'Ada', view: 'none' });
    attendance.check({}, { view: 'interactive' });
    assert.throws(() => attendance.check({}, { dialog: true }), { code: 'invalid_params' });
    assert.throws(() => attendance.check({ reported: true }, { view: 'all' }), /view: must be one of/);
  });
});

test('every action that acts in a page reports its effects', () => {
  const others = Object.keys(actions).filter((name) => !actions[name].reported);
  const lookers = others.filter((name) => actions[name].readsOnly || actions[name].tabless);
  assert.deepEqual(others.filter((name) => !lookers.includes(name)).sort(),
    ['close_tab', 'draw_mode', 'get_page', 'screenshot'].sort());
});
