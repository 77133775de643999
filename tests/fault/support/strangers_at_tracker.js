/**
 * The attacks on a tracker in a hostile hour, by callers with tokens: meaningless requests of 16
 * MiB and ids of megabytes to each of its methods, streams of reflection, endless permission
 * requests, and watches that are not read.
 */
import { setTimeout as pause } from 'node:timers/promises';
import { definition, grpc, TrackerApi } from '../../e2e/support/tracker_api.js';
import { stretched } from '../../support/patience.js';
import { Part } from './strangers.js';

const REQUEST_BYTES = (16 << 20) - 64;
const ID_BYTES = 9 << 20;
/** The number of concurrent callers of each of the two kinds. */
const CALLERS = 6;
const RESULT = Buffer.concat([Buffer.from('"'), Buffer.alloc(4 << 20, 'x'), Buffer.from('"')]);
const ASKERS_OF_SESSION = 64;
const HOLD_MS = 55_000;
/** On a busy machine 16 MiB take long. */
const CALL_MS = stretched(60_000);
const STREAMS_OF_CHANNEL = 100;
const WATCHES = 10;

const LENGTH_DELIMITED = 2;
const TYPE_MESSAGE = 'TYPE_MESSAGE';
const TYPE_STRING = 'TYPE_STRING';

function varint(value) {
  const bytes = [];
  for (; value > 127; value >>>= 7) bytes.push((value & 127) | 128);
  return Buffer.from([...bytes, value]);
}

const tagOf = (number) => varint((number << 3) | LENGTH_DELIMITED);

/** All methods of the protos, each with its two hostile requests. */
function methods() {
  const services = Object.values(definition).filter((each) => !each.format);
  return services.flatMap((service) => Object.values(service)).map((method) => {
    const { field: fields } = method.requestType.type;
    const message = fields.find(({ type }) => type === TYPE_MESSAGE)?.number ?? 1;
    const id = fields.find(({ type, name }) => type === TYPE_STRING && /id$/.test(name))?.number ?? 1;
    const unit = Buffer.concat([tagOf(message), Buffer.from([0])]);
    return {
      ...method,
      requests: [
        () => Buffer.alloc(REQUEST_BYTES - REQUEST_BYTES % unit.length, unit),
        () => Buffer.concat([tagOf(id), varint(ID_BYTES), Buffer.alloc(ID_BYTES, 'x')]),
      ],
    };
  });
}

const METHODS = methods();
const bytes = (value) => value;

/** Sends the bytes of `request`; returns the status of the call. */
function send(client, method, request) {
  return new Promise((resolve) => {
    const args = [method.path, bytes, bytes];
    const ended = ({ code }) => resolve(grpc.status[code]);
    const options = { deadline: Date.now() + CALL_MS };
    if (!method.requestStream && !method.responseStream) {
      client.makeUnaryRequest(...args, request, new grpc.Metadata(), options,
        (error) => ended(error ?? { code: grpc.status.OK }));
      return;
    }
    const call = method.requestStream
      ? client.makeBidiStreamRequest(...args, new grpc.Metadata(), options)
      : client.makeServerStreamRequest(...args, request, new grpc.Metadata(), options);
    call.on('error', () => {}).on('data', () => {}).on('status', ended);
    if (method.requestStream) call.write(request);
  });
}

let owner;
let worker;
const apis = [];

function api(part, token = part.options.token) {
  const made = new TrackerApi(part.options.address, { token, ownConnection: true });
  apis.push(made);
  return made;
}

async function prepare(part) {
  owner = api(part);
  worker = api(part, part.options.workerToken);
  const sessions = Math.ceil(part.options.questions / ASKERS_OF_SESSION);
  await Promise.all(Array.from({ length: sessions }, (_, i) =>
    owner.call('CreateSession', { session_id: `asked-${i}` }, owner.sessions)));
}

/** Calls one method after another; each caller begins with another one. */
function flood(part, kind, i) {
  const { commands: client } = api(part);
  let next = Math.floor(i * METHODS.length / CALLERS);
  const name = ['parts', 'ids'][kind];
  return async () => {
    const method = METHODS[next++ % METHODS.length];
    const met = await send(client, method, method.requests[kind]());
    part.note(`${name} ${met}`);
  };
}

function reflect(part, client) {
  return async () => {
    const call = client.ServerReflectionInfo();
    const status = new Promise((resolve) => { call.on('status', resolve); });
    call.on('error', () => {}).on('data', () => {});
    call.write({ list_services: '' });
    const { code } = await status;
    part.note(`reflection ${grpc.status[code]}`);
    await pause(5_000);
  };
}

function ask(part, client, i) {
  const session_id = `asked-${Math.floor(i / ASKERS_OF_SESSION)}`;
  const question = { session_id, permission_id: 'q', title: 'May I?',
    options: [{ option_id: 'yes', name: 'Yes', kind: 'allow_once' }], max_wait_ms: HOLD_MS };
  return async () => {
    const deadline = Date.now() + 2 * HOLD_MS;
    const code = await new Promise((resolve) => {
      client.AskPermission(question, { deadline }, (error) => resolve(error?.code ?? 0));
    });
    part.note(`questions ${grpc.status[code]}`);
    await pause(1_000);
  };
}

/** Watches commands with large results, and reads none of them. */
function freeze(part) {
  const watching = api(part);
  return async () => {
    const ids = [];
    const watch = watching.commands.WatchCommands();
    watch.on('error', () => {});
    try {
      for (let i = 0; i < 3; ++i) {
        const { command_id } = await owner.register({ target: 'strange' });
        ids.push(command_id);
      }
      watch.write({ add: ids.map((command_id, i) => ({ watch_id: i + 1, command_id })) });
      for (const lease of await worker.lease('strange', 'stranger')) {
        await worker.complete(lease, { result: RESULT });
      }
      part.note('watches frozen');
    } catch (error) {
      part.note(`watches ${grpc.status[error.code] ?? error.message}`);
    }
    await pause(HOLD_MS);
  };
}

await Part.play(prepare, (part) => {
  const channels = (count) => Array.from(
    { length: Math.ceil(count / STREAMS_OF_CHANNEL) }, () => api(part));
  const spread = (count, attack, clientOf) => {
    const clients = channels(count).map(clientOf);
    return Array.from({ length: count },
      (_, i) => attack(part, clients[i % clients.length], i));
  };
  return [
    ...Array.from({ length: CALLERS }, (_, i) => flood(part, 0, i)),
    ...Array.from({ length: CALLERS }, (_, i) => flood(part, 1, i)),
    ...spread(part.options.streams, reflect, ({ reflection }) => reflection),
    ...spread(part.options.questions, ask, ({ sessions }) => sessions),
    ...Array.from({ length: WATCHES }, () => freeze(part)),
  ];
});
