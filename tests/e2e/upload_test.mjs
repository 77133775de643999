/**
 * Files from an agent's folder to a page, with all parts real: official MCP client, bridge,
 * gateway, tracker, extension, Chromium.
 */
import assert from 'node:assert/strict';
import { createHash, randomBytes } from 'node:crypto';
import { mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, beforeEach, test } from 'node:test';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { ListRootsRequestSchema } from '@modelcontextprotocol/sdk/types.js';
import { stretched } from '../support/patience.js';
import { Agent } from './support/agent.js';
import { House } from './support/house.js';
import { binary } from './support/processes.js';

const MIB = 1024 * 1024;
const TIMEOUT = { timeout: stretched(60_000) };

/** A hidden input behind a styled button, a plain one, and a drop area. */
const FORM = `<!doctype html><title>Files</title>
  <form><button type="button" id="choose" onclick="many.click()">Choose files</button>
    <input id="many" type="file" multiple style="display: none"></form>
  <p><label id="labelled">One file <input id="one" type="file"></label></p>
  <div id="zone">Drop here</div><div id="elsewhere">Not here</div>`;

/** In the page: stores the received files, with their digests. */
function listen() {
  window.came = null;
  const digest = async (file) => {
    const hash = await crypto.subtle.digest('SHA-256', await file.arrayBuffer());
    const hex = [...new Uint8Array(hash)].map((byte) => byte.toString(16).padStart(2, '0')).join('');
    return { name: file.name, type: file.type, size: file.size, hex };
  };
  const keep = async (by, files) => {
    window.came = { by, files: await Promise.all([...files].map(digest)) };
  };
  document.addEventListener('change', ({ target }) => keep(target.id, target.files));
  const zone = document.querySelector('#zone');
  zone.addEventListener('dragover', (event) => event.preventDefault());
  zone.addEventListener('drop', (event) => {
    event.preventDefault();
    keep('zone', event.dataTransfer.files);
  });
}

let house;
let folder;
let agent;
let page;

before(async () => {
  house = await House.open({ guarded: true });
  folder = await mkdtemp(join(tmpdir(), 'callslip-upload-'));
  await mkdir(join(folder, 'work'));
  await writeFile(join(folder, 'secret.txt'), 'secret');
  agent = await agentWith({ roots: [join(folder, 'work')] });
  page = await house.browser.open(`${house.pages.url}/second`);
});
after(async () => {
  await house?.close();
  await rm(folder, { recursive: true, force: true });
});

beforeEach(async () => {
  await page.setContent(FORM);
  await page.evaluate(listen);
});

/** An agent in `cwd`, whose client names these folders as its roots, or has none. */
async function agentWith({ roots, cwd = folder }) {
  const client = new Client({ name: 'callslip-e2e', version: '1.0.0' },
    { capabilities: roots ? { roots: {} } : {} });
  if (roots) {
    client.setRequestHandler(ListRootsRequestSchema, () =>
      ({ roots: roots.map((path) => ({ uri: `file://${path}` })) }));
  }
  const transport = new StdioClientTransport({
    command: binary('callslip-bridge'),
    args: ['--gateway', house.gatewayUrl, '--token-file', house.tokenFile],
    cwd,
    stderr: 'pipe',
  });
  return house.keepAgent(await Agent.over(transport, client));
}

async function file(name, bytes) {
  const content = randomBytes(bytes);
  await writeFile(join(folder, 'work', name), content);
  return { name, size: bytes, hex: createHash('sha256').update(content).digest('hex') };
}

async function upload(selector, files, by = agent) {
  const answer = await by.call('interact', {
    action: 'upload', selector, files, wait_ms: 30_000, timeout_ms: 30_000,
  });
  return { isError: answer.isError, ...answer.structuredContent };
}

async function came() {
  await page.waitForFunction(() => window.came !== null);
  return page.evaluate(() => window.came);
}

async function refused(selector, files, code, mayHaveExecuted = false) {
  const answer = await upload(selector, files);
  assert.equal(answer.isError, true, JSON.stringify(answer));
  assert.equal(answer.may_have_executed, mayHaveExecuted);
  assert.equal(answer.reason ?? answer.error, code, JSON.stringify(answer));
}

const check = (name, work) => test(name, TIMEOUT, (context) => house.step(() => work(context)));

for (const size of [0, 1, MIB, 32 * MIB]) {
  check(`a file of ${size} bytes reaches a hidden input behind a button`, async () => {
    const wanted = await file('a.bin', size);
    const answer = await upload('#choose', ['a.bin']);
    assert.equal(answer.status, 'complete', JSON.stringify(answer));
    assert.deepEqual(await came(), { by: 'many', files: [{ ...wanted, type: '' }] });
  });
}

check('three files are dropped at once', async () => {
  const wanted = await Promise.all([file('a.txt', 10), file('b.png', 3 * MIB), file('c', 0)]);
  const answer = await upload('#zone', ['a.txt', join(folder, 'work/b.png'), './c']);
  assert.equal(answer.status, 'complete', JSON.stringify(answer));
  const { by, files } = await came();
  assert.equal(by, 'zone');
  assert.deepEqual(files.map(({ type, ...rest }) => rest), wanted);
  assert.deepEqual(files.map(({ type }) => type), ['text/plain', 'image/png', '']);
});

check('a ref is accepted as the target, and the report names the element', async () => {
  await file('b', 1);
  const seen = await agent.call('analyze', { what: 'page', wait_ms: 10_000 });
  const { page: outline } = seen.structuredContent.result;
  const [, ref] = /(e\d+) button Choose files/.exec(outline) ?? [];
  const answer = await upload(ref, ['b']);
  assert.equal(answer.status, 'complete', JSON.stringify(answer));
  assert.match(answer.result.page, /^uploaded b to e\d+ button Choose files, into input#many, /);
  assert.equal((await came()).by, 'many');
  await page.evaluate(() => { document.querySelector('form').innerHTML += ''; });
  const again = await upload(ref, ['b']);
  assert.match(again.result.page, new RegExp(`^uploaded b to (e\\d+) button Choose files \\(\\1 instead of ${ref}\\), into input#many, `));
  const whole = await upload('#one', ['b']);
  assert.match(whole.result.page, /^uploaded b to e\d+ file One file, /);
  const dropped = await upload('#zone', ['b']);
  assert.match(dropped.result.page, /^dropped b on div#zone Drop here, /);
});

check('an upload of 5 MiB takes less than 3 s', async (context) => {
  await file('five', 5 * MIB);
  const began = performance.now();
  const answer = await upload('#labelled', ['five']);
  const took = performance.now() - began;
  assert.equal(answer.status, 'complete', JSON.stringify(answer));
  context.diagnostic(`5 MiB in ${Math.round(took)} ms`);
  assert.ok(took < stretched(3_000), `${took} ms`);
});

check('an invalid upload is refused, and the page receives no files', async () => {
  await file('most', 32 * MIB);
  await file('b', 1);
  await writeFile(join(folder, 'work/more'), Buffer.alloc(32 * MIB + 1));
  await symlink(join(folder, 'secret.txt'), join(folder, 'work/link'));
  await refused('#one', ['more'], 'file_too_large');
  await refused('#one', ['most', 'b'], 'file_too_large');
  await refused('#one', ['none'], 'file_unavailable');
  await refused('#one', ['link'], 'file_unavailable');
  await refused('#one', ['../secret.txt'], 'file_unavailable');
  await refused('#one', [join(folder, 'secret.txt')], 'file_unavailable');
  await refused('#one', ['b', 'b'], 'invalid_params');
  // The extension asked the page whether it accepts them.
  await refused('#elsewhere', ['b'], 'not_editable', true);
  await refused('#nowhere', ['b'], 'element_not_found');
  assert.equal(await page.evaluate(() => window.came), null);
});

const hidden = (id) => `<input id="${id}" class="file" type="file" style="display: none">`;

check('no input is filled if the target is ambiguous, disabled or hidden', async () => {
  await file('b', 1);
  const cases = [
    [`<input type="file"><input type="file">`, 'input', 'several_match'],
    [hidden('a') + hidden('c'), '.file', 'several_match'],
    [`<div id="box">${hidden('a')}${hidden('c')}</div>`, '#box', 'several_match'],
    [`<div><button id="attach">Attach</button><button id="smile">Smile</button>${hidden('a')}</div>`, '#smile', 'not_editable', true],
    [`<form><button id="attach" type="button">Attach</button>${hidden('a')}<input type="submit" id="send"></form>`, '#send', 'not_editable', true],
    [`<form><button id="attach" disabled>Attach</button>${hidden('a')}</form>`, '#attach', 'element_disabled'],
    [`<input id="a" type="file" disabled>`, '#a', 'element_disabled'],
    [`<div id="zone" style="display: none">Zone</div>`, '#zone', 'element_hidden'],
  ];
  for (const [html, selector, code, mayHaveExecuted] of cases) {
    await page.setContent(html);
    await page.evaluate(() => document.addEventListener('change', () => { window.came = 'a change'; }));
    await refused(selector, ['b'], code, mayHaveExecuted);
    assert.equal(await page.evaluate(() => window.came), null, html);
  }
});

check('a button is matched with the only file input next to it', async () => {
  await file('b', 1);
  const rows = `<ul><li><button id="first">Attach</button>${hidden('a')}</li>
    <li><input name="title"><a href="/help">Help</a><button type="button" id="second">Attach</button>${hidden('c')}<button type="submit">Send</button></li></ul>`;
  for (const [selector, input] of [['#first', 'a'], ['#second', 'c']]) {
    await page.setContent(rows);
    const answer = await upload(selector, ['b']);
    assert.match(answer.result?.page ?? JSON.stringify(answer), new RegExp(`button Attach, into input#${input}, `));
    assert.equal(await page.evaluate((id) => document.getElementById(id).files.length, input), 1);
  }
});

check('a client without roots uploads from the working directory of its bridge', async () => {
  await file('b', 1);
  const other = await agentWith({ cwd: join(folder, 'work') });
  assert.equal((await upload('#one', ['b'], other)).status, 'complete');
  assert.equal((await upload('#one', ['../secret.txt'], other)).reason, 'file_unavailable');
});

check('an agent without a bridge submits its files with the files tool', async () => {
  const direct = await house.agentOverHttp();
  const put = await direct.call('files', {
    name: 'a.txt', mime_type: 'text/plain', size: 2, base64: Buffer.from('hi').toString('base64'),
  });
  const { file_id: id } = put.structuredContent.result;
  assert.equal((await upload('#one', [id], direct)).status, 'complete');
  assert.equal((await came()).files[0].size, 2);
  assert.equal((await upload('#one', ['/etc/passwd'], direct)).error, 'file_unavailable');
});
