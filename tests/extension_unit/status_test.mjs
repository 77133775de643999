import assert from 'node:assert/strict';
import { beforeEach, describe, mock, test } from 'node:test';
import { CommandError } from '../../extension/src/errors.js';
import { SpoofedGateway } from '../../extension/src/proven_fetch.js';
import { RECENT_ENDS } from '../../extension/src/limits.js';
import { age, describeConnection, describeDrawing, describeEnd, describeRunning }
  from '../../extension/src/popup_view.js';
import { STATUS, createStatus } from '../../extension/src/status.js';
import { FakeStorage } from './support/fake_storage.mjs';
import { settled } from './support/settled.mjs';

const SETTINGS = {
  serverUrl: 'http://gate', target: 'browser', name: 'Work', paired: true, paused: false,
};
const COMMAND = { id: 'd-1', type: 'browser_action', params: { action: 'click' } };

let nowMs;
let storage;
let status;
let connections;
let writes;

beforeEach(() => {
  mock.timers.reset();
  mock.timers.enable({ apis: ['setTimeout'] });
  nowMs = 1_000_000;
  connections = [];
  writes = 0;
  storage = new FakeStorage();
  const { set } = storage;
  storage.set = (values) => {
    writes += 1;
    return set.call(storage, values);
  };
  const changed = (connection) => connections.push(connection);
  status = createStatus({ storage, now: () => nowMs, changed });
});

async function published() {
  await settled();
  mock.timers.tick(200);
  await settled();
  return (await storage.get(STATUS))[STATUS];
}

function newRun() {
  const stop = new AbortController();
  return { stop, run: { signal: stop.signal, tabId: 7, url: 'http://page/' } };
}

describe('status', () => {
  test('reflects the results of the polls', async () => {
    const answers = [[], [], new Error('down'), []];
    const { signal } = new AbortController();
    const pendingQueries = async () => {
      const answer = answers.shift();
      if (answer instanceof Error) throw answer;
      return answer;
    };
    status.serving(SETTINGS);
    const gateway = status.watchPolls({ pendingQueries, other: 1 }, signal);
    assert.equal(gateway.other, 1);
    await gateway.pendingQueries();
    nowMs += 5_000;
    await gateway.pendingQueries();
    const { connection, since, polledAt, serverUrl } = await published();
    assert.deepEqual({ connection, since, polledAt, serverUrl },
      { connection: 'connected', since: 1_000_000, polledAt: 1_005_000, serverUrl: 'http://gate' });
    await assert.rejects(gateway.pendingQueries());
    assert.equal((await published()).error, 'down');
    await gateway.pendingQueries();
    assert.equal((await published()).error, undefined);
    assert.deepEqual(connections, ['connecting', 'connected', 'disconnected', 'connected']);
  });

  test('ignores the polls of a gateway that is no longer served', async () => {
    const signal = AbortSignal.abort();
    status.serving({ ...SETTINGS, paused: true });
    await status.watchPolls({ pendingQueries: async () => [] }, signal).pendingQueries();
    assert.deepEqual(connections, ['paused']);
  });

  test('shows an unpaired browser and a spoofed gateway', async () => {
    status.serving({ ...SETTINGS, paired: false, paused: true });
    assert.equal((await published()).connection, 'unpaired');
    status.serving(SETTINGS);
    const { signal } = new AbortController();
    const pendingQueries = async () => { throw new SpoofedGateway('not ours'); };
    await assert.rejects(status.watchPolls({ pendingQueries }, signal).pendingQueries());
    assert.equal((await published()).connection, 'spoofed');
    assert.deepEqual(connections, ['unpaired', 'connecting', 'spoofed']);
  });

  test('shows the running commands and the outcomes of finished ones', async () => {
    const outcomes = [
      async () => 'data',
      async () => { throw new CommandError({ code: 'tab_gone', message: 'gone' }); },
    ];
    for (const execute of outcomes) {
      await status.watchRuns(execute)(COMMAND, newRun().run).catch(() => {});
      nowMs += 1_000;
    }
    const { stop, run } = newRun();
    status.watchRuns(() => new Promise(() => {}))(COMMAND, run);
    const place = { action: 'click', tabId: 7, url: 'http://page/' };
    assert.deepEqual((await published()).running, [{ ...place, since: 1_002_000 }]);
    stop.abort();
    const { running, recent } = await published();
    assert.deepEqual(running, []);
    assert.deepEqual(recent, [
      { ...place, outcome: 'stopped', at: 1_002_000 },
      { ...place, outcome: 'tab_gone', at: 1_001_000 },
      { ...place, outcome: 'complete', at: 1_000_000 },
    ]);
  });

  test('keeps a limited number of outcomes, and combines its writes', async () => {
    for (let count = 0; count < 100; count += 1) {
      await status.watchRuns(async () => {})(COMMAND, newRun().run);
    }
    assert.equal((await published()).recent.length, RECENT_ENDS);
    assert.equal(writes, 1);
  });
});

describe('the popup', () => {
  const at = 1_000_000;

  test('shows a connection as lost 10 s after the last poll', () => {
    const given = { connection: 'connected', since: at - 90_000, polledAt: at - 9_000 };
    const { text, since } = describeConnection(given, at);
    assert.deepEqual({ text, since }, { text: 'Connected', since: 'for 1 min' });
    assert.equal(describeConnection(given, at + 1_000).text, 'Not connected');
    assert.equal(describeConnection(undefined, at).text, 'Connecting');
    assert.equal(describeConnection({ ...given, connection: 'paused' }, at + 60_000).text, 'Paused');
  });

  test('explains an unpaired browser and a spoofed gateway', () => {
    const unpaired = describeConnection({ connection: 'unpaired', since: at }, at);
    assert.equal(unpaired.text, 'Not paired');
    assert.match(unpaired.error, /pair it with your gateway/);
    const given = { connection: 'spoofed', since: at, error: 'What answers …' };
    const { text, look, error } = describeConnection(given, at);
    assert.deepEqual({ text, look }, { text: 'Gateway not verified', look: 'bad' });
    assert.match(error, /does not know your token/);
  });

  test('explains a known problem in a sentence', () => {
    const given = { connection: 'disconnected', since: at };
    const told = (error) => describeConnection({ ...given, error }, at).error;
    assert.match(told('/pending-queries?wait=5 got no answer: Failed to fetch'), /No response/);
    assert.match(told('answered 401: {"error":"token_unknown"}'), /does not know this token/);
    assert.equal(told('/pending-queries answered 503'), '/pending-queries answered 503');
    assert.equal(told(undefined), undefined);
  });

  test('shows times in their largest unit', () => {
    const times = [-5, 59_999, 60_000, 3_599_999, 3_600_000, 172_800_000].map(age);
    assert.deepEqual(times, ['0 s', '59 s', '1 min', '59 min', '1 h', '2 d']);
  });

  test('shows a command with its page', () => {
    const run = { action: 'click', tabId: 7, url: 'https://shop.example/cart?id=1#x', since: at };
    const { what, hint } = describeRunning(run, at);
    assert.deepEqual({ what, hint }, { what: 'click on shop.example/cart', hint: 'in tab 7' });
    assert.equal(describeRunning({ action: 'click', since: at }, at).what, 'click');
    const { outcome, look } = describeEnd({ ...run, outcome: 'tab_gone', at }, at);
    assert.deepEqual({ outcome, look }, { outcome: 'tab gone', look: 'bad' });
  });

  test('shows a drawing with its marks, and the reason of its rejection', () => {
    const drawing = { title: 'Shop', count: 1, state: 'drawing' };
    assert.deepEqual(describeDrawing(drawing), { what: 'Shop: 1 mark', hint: undefined });
    const refused = { title: '', url: 'http://page/', count: 2, state: 'refused', error: '403' };
    const expected = { what: 'http://page/: 2 marks', hint: 'rejected: 403' };
    assert.deepEqual(describeDrawing(refused), expected);
  });
});
