/**
 * A line removed from the token files of a running gateway and tracker ends everything that its
 * principal holds at both, and nothing of other principals.
 */
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { mkdtemp, rename, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { stretched } from '../support/patience.js';
import { ServerProcess } from './support/processes.js';
import { TrackerApi, refusal, stateOf } from './support/tracker_api.js';
import { Watcher } from './support/watcher.js';

const PROTOCOL = '2026-07-28';
/**
 * Each person's waits at the tracker: a poll and a wait of the gateway, and two waits of the
 * person's own.
 */
const WAITS_OF_EACH = 4;

const secret = () => randomBytes(32).toString('hex');
/** Two people, each with an agent and a browser. */
const people = ['alice', 'bob'].map((name) => ({ name, token: secret(), workerToken: secret() }));
const [alice, bob] = people;
const operator = secret();
const edge = secret();

let folder;
let tracker;
let gateway;

/** Writes both files, with these people. Each is replaced in one step. */
async function writeTokens(...known) {
  const lines = known.flatMap(({ name, token, workerToken }) => [
    `client ${name} ${token}`,
    `worker browser-of-${name} ${workerToken} target=${name}`,
  ]);
  const text = [...lines, `viewer operator ${operator}`, `gateway edge ${edge}`,
    `session-key - ${'0'.repeat(64)}`, ''].join('\n');
  for (const file of ['gateway-tokens', 'tracker-tokens']) {
    const next = join(folder, 'next');
    await writeFile(next, text, { mode: 0o600 });
    await rename(next, join(folder, file));
  }
}

function ask(token, path, { headers, ...options } = {}) {
  return fetch(`http://${gateway.address}${path}`, {
    ...options,
    headers: { Authorization: `Bearer ${token}`, 'Content-Type': 'application/json', ...headers },
  });
}

async function post(token, path, body) {
  const answer = await ask(token, path, { method: 'POST', body: JSON.stringify(body) });
  assert.ok(answer.ok, `${path}: ${answer.status}`);
  return answer.json();
}

/** Calls the tool `observe` in the MCP era without sessions. */
function observe(token, args) {
  const _meta = {
    'io.modelcontextprotocol/protocolVersion': PROTOCOL,
    'io.modelcontextprotocol/clientCapabilities': {},
  };
  const params = { name: 'observe', arguments: args, _meta };
  return ask(token, '/mcp', {
    method: 'POST',
    headers: {
      'MCP-Protocol-Version': PROTOCOL,
      'Mcp-Method': 'tools/call',
      'Mcp-Name': 'observe',
      Accept: 'application/json, text/event-stream',
    },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params }),
  });
}

/** The text of an answer, piece by piece; null after it has ended in whatever way. */
class Stream {
  #reader;
  #text = '';

  constructor(answer) {
    this.#reader = answer.body.pipeThrough(new TextDecoderStream()).getReader();
  }

  async #more() {
    const { done, value } = await this.#reader.read().catch(() => ({ done: true }));
    if (!done) this.#text += value;
    return !done;
  }

  async until(pattern) {
    while (!pattern.test(this.#text)) assert.ok(await this.#more(), `It ended after ${this.#text}`);
  }

  async end() {
    while (await this.#more());
    return this.#text;
  }
}

/** The outcome of a request: status and text, or nothing if its connection was closed. */
async function outcomeOf(answer) {
  try {
    const response = await answer;
    return { status: response.status, text: await response.text() };
  } catch {
    return { status: 0, text: '' };
  }
}

/** Holds one poll after another, until one brings a command or fails. */
async function poll(token, target) {
  for (;;) {
    const path = `/pending-queries?wait=5&target=${target}&worker=${target}`;
    const outcome = await outcomeOf(ask(token, path));
    if (outcome.text !== '[]') return outcome;
  }
}

/** Begins every kind of wait of a person and their browser, at the gateway and at the tracker. */
async function holdAll(person) {
  const { name, token, workerToken } = person;
  person.api = new TrackerApi(tracker.address, { token });
  person.workerApi = new TrackerApi(tracker.address, { token: workerToken });
  // For a target of its own, without a worker.
  const { command_id: id } = await person.api.register({ target: `${name}-held` });
  await post(token, '/api/sessions', { session_id: `of-${name}`, acp_server: 'test', working_dir: '/' });
  const wait = person.api.wait({ command_id: id });
  await wait.next();
  const watch = person.api.watch({ add: [{ watch_id: 1, command_id: id }] });
  await watch.nextInShort();
  const events = await ask(token, `/api/sessions/of-${name}/events?after_seq=0`,
    { headers: { Accept: 'text/event-stream' } });
  assert.equal(events.status, 200);
  const socket = await Watcher.open(`ws://${gateway.address}/api/sessions/of-${name}/ws`,
    ['callslip.v1', `callslip.bearer.${token}`]);
  await socket.ofType('connected');
  return {
    id,
    wait,
    watch,
    socket,
    events: new Stream(events),
    answer: outcomeOf(observe(token, { what: 'command_result', correlation_id: id, wait_ms: 30_000 })),
    poll: poll(workerToken, name),
  };
}

before(async () => {
  folder = await mkdtemp(join(tmpdir(), 'callslip-withdrawn-'));
  await writeTokens(...people);
  tracker = await ServerProcess.start('callslip-tracker',
    ['--listen', '127.0.0.1:0', '--token-file', join(folder, 'tracker-tokens')]);
  gateway = await ServerProcess.start('callslip-gateway', ['--listen', '127.0.0.1:0', '--tracker',
    tracker.address, '--token-file', join(folder, 'gateway-tokens')]);
});

after(async () => {
  for (const { api, workerApi } of people) {
    api?.close();
    workerApi?.close();
  }
  await gateway?.stop();
  await tracker?.stop();
  await rm(folder, { recursive: true, force: true });
});

test('a removed token line ends all held calls of its principal, and no others', { timeout: stretched(60_000) },
  async (context) => {
    const watching = new TrackerApi(tracker.address, { token: operator });
    context.after(() => watching.close());
    const held = await holdAll(alice);
    const others = await holdAll(bob);
    const countWaits = async () => (await watching.call('GetHealth', {}, watching.admin)).waits;
    while (await countWaits() < 2 * WAITS_OF_EACH);

    const closed = once(held.socket.socket, 'close');
    await writeTokens(bob);
    await closed;
    await held.events.end();
    assert.equal(await held.wait.status, 'CANCELLED');
    assert.equal(await held.watch.status, 'CANCELLED');
    for (const outcome of [await held.answer, await held.poll]) {
      assert.ok([0, 401].includes(outcome.status), JSON.stringify(outcome));
    }
    // New requests are refused as well.
    const refused = refusal('UNAUTHENTICATED', 'token_unknown');
    await assert.rejects(alice.api.register(), refused);
    await assert.rejects(alice.workerApi.lease('alice'), refused);
    assert.equal((await observe(alice.token, { what: 'pending_commands' })).status, 401);
    assert.equal((await ask(alice.workerToken, '/pending-queries?target=alice')).status, 401);

    // The other person's waits are still unanswered.
    while (await countWaits() > WAITS_OF_EACH);
    await bob.api.register({ target: 'bob', params: Buffer.from('{"action":"get_page"}') });
    const [query] = JSON.parse((await others.poll).text);
    assert.match(query.correlation_id, /^corr-/);
    await bob.api.call('CancelCommand', { command_id: others.id });
    assert.equal(stateOf((await others.wait.next()).command), 'CANCELLED');
    await others.wait.end();
    assert.deepEqual(await others.watch.nextInShort(), [1, 'CANCELLED', true]);
    const answer = JSON.parse((await others.answer).text);
    assert.equal(answer.result.structuredContent.status, 'cancelled');
    await post(bob.token, '/api/sessions/of-bob/events',
      { events: [{ type: 'agent_message', data: { text: 'still there' } }] });
    await others.events.until(/still there/);
    await others.socket.find(({ data }) => data.text === 'still there');
    await others.socket.close();
  });
