/** `up`: tracker and gateway on this machine until Ctrl-C, and a runner if there is an agent. */
import { existsSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { homedir, tmpdir } from 'node:os';
import { delimiter, dirname, join, resolve } from 'node:path';
import { cwd, env, stderr, stdout } from 'node:process';
import { parseArgs } from 'node:util';
import { Service } from './service.js';

/** Agents that speak the Agent Client Protocol. */
const AGENTS = ['opencode acp', 'codex-acp', 'gemini --acp', 'claude-agent-acp'];

const isInstalled = (program) =>
  (env.PATH ?? '').split(delimiter).some((folder) => existsSync(join(folder, program)));
const findAgent = () => AGENTS.find((command) => isInstalled(command.split(' ')[0]));

/** The same data folder as that of a bridge with --autostart for this gateway. */
function dataFolder(gatewayPort) {
  const home = env.XDG_DATA_HOME || join(homedir(), '.local/share');
  return env.CALLSLIP_DATA_DIR || join(home, 'callslip', `127.0.0.1-${gatewayPort}`);
}

/** Keeps lines until letGo(), then writes them as they come. */
class Log {
  #kept = [];

  add = (line) => {
    if (this.#kept) this.#kept.push(line);
    else stderr.write(`${line}\n`);
  };

  text = () => this.#kept.join('\n');

  letGo() {
    const kept = this.#kept;
    this.#kept = undefined;
    kept.forEach(this.add);
  }
}

function announcement({ gateway, tracker, data, agent, dir, doctor, extension }) {
  const file = env.CALLSLIP_TOKEN_FILE;
  const header = file ? ' --header "Authorization: Bearer TOKEN"' : '';
  return `
Callslip is up. Its page leads from here to the first answer, and shows what comes of it:

  http://${gateway}/ui/

Or by hand, in three steps:

  1. Agent            ${doctor} --fix --gateway http://${gateway}${file ? ` --token-file ${file}` : ''}
                      tells the agents of this machine, and asks before. By hand, over HTTP:
                      claude mcp add --transport http callslip http://${gateway}/mcp${header}
  2. Browser          chrome://extensions → Developer mode → Load unpacked → ${extension}
                      then, with the page in front, its icon → Pair with ${gateway}
  3. Try              ask the agent: what is the title of the page in my browser?

  Other services      gRPC at ${tracker} (proto/callslip/tracker/v1)
  Tokens              ${file ? `in ${file}, one for each role` : 'none needed on this machine (see README.md)'}
  Sessions            in ${data}
  Agents in sessions  ${agent ? `${agent}, in ${dir}` : "none: up --agent 'opencode acp' --dir FOLDER"}
  Health              curl http://${gateway}/readyz

Logs follow. Ctrl-C stops all.

`;
}

/** A message about a service that did not start, with advice. */
function whyNot(name, log) {
  const [taken] = log.match(/cannot listen on \S*: Address already in use|another process uses .*/) ?? [];
  if (!taken) return `the ${name} did not start:\n${log}`;
  return `${taken}. Perhaps Callslip runs already, from here or for an agent: use that, or end it, or pick ` +
    'other ports with CALLSLIP_GATEWAY_PORT and CALLSLIP_TRACKER_PORT';
}

/**
 * Returns the exit code after all services have ended. `bin` is the folder of the programs; the
 * announcement shows `doctor`, a command to type, and `extension`, the folder to load.
 */
export async function up(args, { bin, doctor, extension }) {
  const options = { agent: { type: 'string' }, dir: { type: 'string' } };
  const { agent = findAgent(), dir = cwd() } = parseArgs({ args, options }).values;
  const { CALLSLIP_GATEWAY_PORT: gatewayPort = '7890', CALLSLIP_TRACKER_PORT: trackerPort = '7900' } = env;
  const data = dataFolder(gatewayPort);
  mkdirSync(dirname(data), { recursive: true, mode: 0o700 });
  const folder = mkdtempSync(join(tmpdir(), 'callslip-'));
  // Only this user can open the socket. Over it the gateway may name any client.
  const socket = `unix:${folder}/tracker.sock`;

  const log = new Log();
  const services = [];
  let isStopped = false;
  const start = (program, ...rest) => {
    services.push(new Service(join(bin, program), rest, log.add));
    return services.at(-1);
  };
  const stop = () => {
    isStopped = true;
    services.forEach(({ child }) => child.kill());
  };
  const failed = (message) => {
    if (isStopped) return 0;
    stderr.write(`callslip: ${message}\n`);
    return 1;
  };
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, stop);

  try {
    const tracker = start('callslip-tracker', '--listen', `127.0.0.1:${trackerPort},${socket}`,
      '--data-dir', data);
    const trackerAddress = await tracker.address(2);
    if (!trackerAddress || isStopped) return failed(whyNot('tracker', log.text()));
    const gateway = start('callslip-gateway', '--listen', `127.0.0.1:${gatewayPort}`,
      '--tracker', socket, '--extension-dir', extension);
    const gatewayAddress = await gateway.address();
    if (!gatewayAddress || isStopped) return failed(whyNot('gateway', log.text()));
    if (agent) {
      start('callslip-runner', '--tracker', socket, '--gateway', `http://${gatewayAddress}`,
        '--agent', agent, '--dir', resolve(dir));
    }
    stdout.write(announcement({
      gateway: gatewayAddress, tracker: trackerAddress, data, agent, dir: resolve(dir), doctor, extension,
    }));
    log.letGo();
    await Promise.race([tracker.ended, gateway.ended]);
    return failed(`the ${tracker.hasEnded ? 'tracker' : 'gateway'} has ended, and all with it`);
  } finally {
    stop();
    await Promise.all(services.map(({ ended }) => ended));
    rmSync(folder, { recursive: true, force: true });
  }
}
