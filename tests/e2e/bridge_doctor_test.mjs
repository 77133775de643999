import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { test } from 'node:test';
import { binary } from './support/processes.js';
import { Services } from './support/services.js';

const TIMEOUT = { timeout: 30_000 };

/** The exit code of the doctor, and what it says. */
function examine(services, ...args) {
  const command = ['doctor', '--gateway', services.gatewayUrl, ...args];
  return new Promise((resolve) => {
    execFile(binary('callslip-bridge'), command, (error, stdout) =>
      resolve({ code: error?.code ?? 0, stdout }));
  });
}

async function states(services, ...args) {
  const { code, stdout } = await examine(services, '--json', ...args);
  const report = JSON.parse(stdout);
  assert.equal(report.healthy, code === 0);
  for (const { state, hint } of report.links) if (state === 'broken') assert.ok(hint);
  return { code, ...Object.fromEntries(report.links.map(({ link, state }) => [link, state])) };
}

test('the doctor names the link that is broken', TIMEOUT, async (context) => {
  const services = await Services.open({ guarded: true });
  context.after(() => services.close());
  const token = ['--token-file', services.tokenFile];
  const beyond = { extension: 'unknown', tab: 'unknown' };
  await services.step(async () => {
    assert.deepEqual(await states(services, ...token),
      { code: 0, bridge: 'ok', gateway: 'ok', tracker: 'ok', ...beyond });
    const { stdout } = await examine(services, ...token);
    assert.match(stdout, /^ok +gateway +callslip \d/m);

    assert.deepEqual(await states(services),
      { code: 1, bridge: 'ok', gateway: 'broken', tracker: 'unknown', ...beyond });
    assert.match((await examine(services)).stdout, /--token-file/);

    await services.tracker.kill();
    assert.deepEqual(await states(services, ...token),
      { code: 1, bridge: 'ok', gateway: 'ok', tracker: 'broken', ...beyond });

    await services.gateway.freeze();
    assert.equal((await states(services, ...token)).gateway, 'broken');
    services.gateway.thaw();

    await services.gateway.kill();
    assert.deepEqual(await states(services, ...token),
      { code: 1, bridge: 'ok', gateway: 'broken', tracker: 'unknown', ...beyond });
    assert.match((await examine(services, ...token)).stdout, /callslip-gateway/);
  });
});
