/**
 * Tracker, gateway and bridge of two versions, in all mixtures: an agent's command goes to a worker
 * and back, with authentication at each listener. CALLSLIP_FORMER_BIN has the previous version's
 * programs.
 */
import assert from 'node:assert/strict';
import { after, afterEach, test } from 'node:test';
import { stretched } from '../support/patience.js';
import { FakeWorker } from './support/fake_worker.js';
import { useFormer } from './support/processes.js';
import { Services } from './support/services.js';

const PROGRAMS = ['callslip-tracker', 'callslip-gateway', 'callslip-bridge'];

/** Each selection of some of them, but not of all or none. */
const mixtures = Array.from({ length: 2 ** PROGRAMS.length - 2 }, (_, index) =>
  PROGRAMS.filter((__, bit) => (index + 1) & (1 << bit)));

let services;
afterEach(() => services?.close());
after(() => useFormer([]));

for (const former of mixtures) {
  test(`a command completes with the previous ${former.join(' and ')}`, { timeout: stretched(60_000) }, async () => {
    useFormer(former);
    services = await Services.open({ guarded: 'tracker' });
    await services.step(async () => {
      const worker = FakeWorker.start(services.gatewayUrl,
        ({ script }) => ({ success: true, data: script }), await services.tokenOf('extension'));
      services.onClose(() => worker.stop());
      const agent = await services.agentOverBridge();
      const { result } = await agent.run({ action: 'execute_js', script: '6 * 7' });
      assert.equal(result, '6 * 7');
    });
  });
}
