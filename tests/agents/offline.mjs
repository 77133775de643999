/**
 * Runs test files in a network namespace that has only loopback. Without the permission for a
 * namespace it prints a warning, and only the rejecting proxy (support/nowhere.js) records the
 * requests of agents.
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
