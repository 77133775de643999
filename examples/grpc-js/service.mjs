/**
 * A service that has commands executed by workers, and collects their results.
 * Usage: node service.mjs [ADDRESS [TARGET]]
 */
import { randomUUID } from 'node:crypto';
import { call, connect, persist, trackerAddress } from './tracker.mjs';
import { Watches } from './watches.mjs';

const TARGET = process.argv[3] ?? 'example';

const client = connect(trackerAddress());
const watches = new Watches(client);

/** Has a command executed and answers its id, however often the call has to be repeated. */
async function submit(type, params = {}) {
  const request = {
    target: TARGET,
    type,
    params: Buffer.from(JSON.stringify(params)),
    // Chosen once and sent with every repetition, it keeps the command from being registered twice.
    // A service of yours takes it from its own data, such as the number of an order, so that it is
    // the same also after the service itself was restarted.
    request_id: randomUUID(),
    // These commands may be executed twice. Leave it out where that would do harm.
    idempotent: true,
    deadlines: {
      schedule_to_start: { seconds: 20 }, // to be taken by a worker
      start_to_close: { seconds: 15 }, // to be executed
      schedule_to_close: { seconds: 45 }, // to be over, whatever happens
    },
  };
  const { command } = await persist(() => call(client, 'RegisterCommand', request), {
    onRetry: (error) => console.log(`not accepted yet: ${error}`),
  });
  return command.command_id;
}

/** How a command ended, in a few words. */
function outcomeOf({ state, result, error }) {
  if (state === 'COMMAND_STATE_COMPLETED') return `COMPLETED ${result}`;
  return `${state.replace('COMMAND_STATE_', '')} ${error.code} "${error.message}"`;
}

async function waitForAll() {
  const texts = ['to be', 'or not', 'to be'];
  const ids = await Promise.all(texts.map((text) => submit('echo', { text })));
  const commands = await watches.all(ids);
  for (const command of commands) console.log(`all: ${outcomeOf(command)}`);
}

async function waitForAny() {
  const ids = await Promise.all([10_000, 200, 9_000].map((ms) => submit('sleep', { ms })));
  const first = await watches.any(ids);
  console.log(`any: ${outcomeOf(first)}`);
  // Nobody needs the others any more.
  for (const id of ids.filter((other) => other !== first.command_id)) await cancel(id);
}

async function cancel(id) {
  const request = { command_id: id };
  try {
    const { command } = await persist(() => call(client, 'CancelCommand', request));
    console.log(`cancelled: ${outcomeOf(command)}`);
  } catch (error) {
    if (error.reason !== 'already_ended') throw error;
    console.log(`too late to cancel: ${error.message}`);
  }
}

async function readAnError() {
  const request = { command_id: 'corr-0-0' };
  try {
    await call(client, 'GetCommand', request);
  } catch (error) {
    // `code` and `reason` are for programs, the rest is for people.
    console.log(`refused: ${error.code} ${error.reason} "${error.message}"`);
    console.log(`hint: ${error.hint}`);
  }
}

async function replayADeadLetter() {
  const [failed] = await watches.all([await submit('fail', { unless_replayed: true })]);
  console.log(`failed: ${outcomeOf(failed)}`);
  const request = { target: TARGET, dead_letters: true, page_size: 10 };
  const { commands: letters } = await persist(() => call(client, 'ListCommands', request));
  for (const letter of letters) console.log(`dead letter: ${letter.type} ${outcomeOf(letter)}`);

  // The request_id says what is replayed, so that repeating this does not replay it twice.
  const letter = letters.find(({ command_id: id }) => id === failed.command_id);
  const replay = {
    command_id: letter.command_id,
    request_id: `replay-of-${letter.command_id}`,
  };
  const { command } = await persist(() => call(client, 'ReplayCommand', replay));
  const [replayed] = await watches.all([command.command_id]);
  console.log(`replayed: ${outcomeOf(replayed)}`);
}

try {
  await waitForAll();
  await waitForAny();
  await readAnError();
  await replayADeadLetter();
} catch (error) {
  console.error(`gave up: ${error}`);
  process.exitCode = 1;
} finally {
  watches.close();
  client.close();
}
