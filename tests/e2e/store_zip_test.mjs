/** The extension from the store's zip in a real Chromium: it works, under an id of its own. */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { startBrowser } from './support/chromium.js';
import { FakeGateway } from './support/fake_gateway.js';

const run = promisify(execFile);
const PACK = fileURLToPath(new URL('../../deploy/release/pack.sh', import.meta.url));

/** The id of the unpacked folder, which follows from its key. */
const FOLDERS_ID = 'fkcobmieoejemhgkfajpliikanmfnppi';

let folder;
let gateway;
let browser;

before(async () => {
  folder = await mkdtemp(join(tmpdir(), 'callslip-store-zip-'));
  const { stdout } = await run(PACK, ['extension', folder],
    { env: { ...process.env, SOURCE_DATE_EPOCH: '1767225600' } });
  const source = join(folder, 'unpacked');
  await run('unzip', ['-q', stdout.trim(), '-d', source]);
  gateway = await FakeGateway.start();
  browser = await startBrowser({ serverUrl: gateway.url, source });
});

after(async () => {
  await browser?.stop();
  await gateway?.down();
  await rm(folder, { recursive: true, force: true });
});

test('the packed extension polls for commands and runs them', async () => {
  await gateway.nextPoll();
  const { status, result } = await gateway.run({ action: 'list_tabs' });
  assert.equal(status, 'complete');
  assert.ok(result.data.tabs.length > 0);
});

test('the id of the packed extension differs from that of the unpacked folder', () => {
  const { host } = new URL(browser.worker.url());
  assert.match(host, /^[a-p]{32}$/);
  assert.notEqual(host, FOLDERS_ID);
});

test('the icons of the packed extension load in all sizes', async () => {
  const page = await browser.openExtensionPage('/popup.html');
  const sizes = await page.evaluate(() => Promise.all(
    Object.values(chrome.runtime.getManifest().icons).map(async (file) => {
      const image = new Image();
      image.src = chrome.runtime.getURL(file);
      await image.decode();
      return [image.naturalWidth, image.naturalHeight];
    })));
  assert.deepEqual(sizes.sort(([a], [b]) => a - b), [[16, 16], [32, 32], [48, 48], [128, 128]]);
});
