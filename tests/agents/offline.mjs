/**
 * Runs test files where there is no network but loopback: in a network namespace of their own. Where
 * that is not permitted, it says so, and the proxy that leads nowhere is all that shows what an agent
 * asks for (support/nowhere.js).
 *
 *   node offline.mjs FILE...
 */
import { spawnSync } from 'node:child_process';

const INSIDE = ['unshare', '--user', '--map-root-user', '--net', 'sh', '-c', 'ip link set lo up && exec "$@"', 'sh'];

const permitted = spawnSync(INSIDE[0], [...INSIDE.slice(1), 'true']).status === 0;
if (!permitted) {
  console.error('offline.mjs: no network namespace can be made here (unshare, ip): the tests run with '
    + 'the network of this machine.');
}
const [command, ...args] = [...(permitted ? INSIDE : []), process.execPath, '--test', '--test-concurrency=1',
  ...process.argv.slice(2)];
const { status } = spawnSync(command, args, {
  stdio: 'inherit',
  env: { ...process.env, CALLSLIP_OFFLINE: permitted ? 'namespace' : '' },
});
process.exit(status ?? 1);
