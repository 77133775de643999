import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { test } from 'node:test';
import { stretched } from '../support/patience.js';
import { binary } from './support/processes.js';
import { RunnerProcess, scriptedAgent } from './support/runner.js';
import { Services } from './support/services.js';

const TIMEOUT = { timeout: stretched(30_000) };

/** The doctor's exit code and output. */
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

/** Posts the extension's report about itself. */
async function report(services, status) {
  const response = await fetch(`${services.gatewayUrl}/worker-status`, {
    method: 'POST',
    headers: {
      'Content-Type': 'application/json',
      Authorization: `Bearer ${await services.tokenOf('extension')}`,
    },
    body: JSON.stringify({ worker: 'w1', target: 'browser', ...status }),
  });
  assert.equal(response.status, 200);
}

test('the doctor names the broken link', TIMEOUT, async (context) => {
  const services = await Services.open({ guarded: true });
  context.after(() => services.close());
  const token = ['--token-file', services.tokenFile];
  const beyond = { extension: 'unknown', tab: 'unknown', runner: 'unknown' };
  const noRunner = { runner: 'none' };
  const upTo = { bridge: 'ok', gateway: 'ok', tracker: 'ok' };
  await services.step(async () => {
    assert.deepEqual(await states(services, ...token),
      { code: 1, ...upTo, extension: 'broken', tab: 'unknown', ...noRunner });
    assert.match((await examine(services, ...token)).stdout, /no browser extension is connected/);
    assert.match((await examine(services, ...token)).stdout, /^none +runner .*\n.*callslip-runner --agent/m);

    await report(services, { paused: true, tabs: [] });
    assert.deepEqual(await states(services, ...token),
      { code: 1, ...upTo, extension: 'broken', tab: 'unknown', ...noRunner });
    await report(services, { paused: false, tabs: [] });
    assert.deepEqual(await states(services, ...token),
      { code: 1, ...upTo, extension: 'ok', tab: 'broken', ...noRunner });
    const tabs = [{ tab_id: 7, active: true, title: 'Title', url: 'http://page/' }];
    await report(services, { name: 'Work laptop', version: '0.1.0', tabs });
    assert.deepEqual(await states(services, ...token),
      { code: 0, ...upTo, extension: 'ok', tab: 'ok', ...noRunner });
    const told = (await examine(services, ...token)).stdout;
    assert.match(told, /Work laptop 0\.1\.0 for target "browser"/);
    assert.match(told, /1 tab; in front: http:\/\/page\//);
    const { stdout } = await examine(services, ...token);
    assert.match(stdout, /^ok +gateway +callslip \d/m);

    const runner = await RunnerProcess.open(services,
      { agents: { scripted: { command: scriptedAgent() }, gone: { command: ['/nowhere/agent'] } } });
    assert.equal((await states(services, ...token)).runner, 'ok');
    assert.match((await examine(services, ...token)).stdout,
      /^ok +runner +runs scripted; not gone: .*\n.*callslip-runner check/m);
    await runner.stop();
    await runner.configure({ agents: { gone: { command: ['/nowhere/agent'] } } });
    await runner.start();
    assert.deepEqual([(await states(services, ...token)).runner,
      (await states(services, ...token)).code], ['broken', 1]);
    await runner.stop();

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
