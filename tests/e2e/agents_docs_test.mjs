/**
 * Carries out every call in docs/agents.md, with all parts real, and compares every answer. With
 * CALLSLIP_UPDATE_GOLDEN=1 it writes the answers there: read the difference as an agent would.
 */
import assert from 'node:assert/strict';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { once } from 'node:events';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { stretched } from '../support/patience.js';
import { Agent } from './support/agent.js';
import { AGENTS_PAGES } from './support/agents_pages.js';
import { House } from './support/house.js';
import { binary } from './support/processes.js';

const DOCUMENT = new URL('../../docs/agents.md', import.meta.url);
const SHOP = 'http://shop.test';
const CALL = /^(interact|analyze|observe) (\{.*\})$/;

/** The number of lines that the documentation shows of a longer answer. */
const SHOWN_LINES = 12;

let house;
let folder;
let agent;
let page;
let server;
let origin;

before(async () => {
  house = await House.open();
  folder = await mkdtemp(join(tmpdir(), 'callslip-agents-'));
  await writeFile(join(folder, 'invoice.pdf'), Buffer.alloc(2_000));
  await writeFile(join(folder, 'photo.png'), Buffer.alloc(3_000));
  server = createServer(({ url }, response) => {
    const body = AGENTS_PAGES[new URL(url, SHOP).pathname];
    response.writeHead(body ? 200 : 404, { 'Content-Type': 'text/html; charset=utf-8' }).end(body);
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  origin = `http://127.0.0.1:${server.address().port}`;
  const args = ['--gateway', house.gatewayUrl];
  const transport = new StdioClientTransport(
    { command: binary('callslip-bridge'), args, cwd: folder, stderr: 'pipe' });
  agent = house.keepAgent(await Agent.over(transport));
  page = await house.browser.open(`${house.pages.url}/second`);
});
after(async () => {
  server?.close();
  await house?.close();
  if (folder) await rm(folder, { recursive: true, force: true });
});

const PEOPLE = {
  'signs in': async () => {
    await page.fill('#password', 'secret');
    await page.click('button');
  },
};

async function answerTo(tool, text) {
  const args = new Function(`return (${text.replaceAll(SHOP, origin)})`)();
  const answer = await agent.call(tool, { wait_ms: 10_000, ...args });
  const [{ text: said }] = answer.content;
  return said
    .replaceAll(origin, SHOP)
    .replace(/\d+ ms\b/g, '… ms')
    .replace(/corr-\d+-[0-9a-f]+/g, 'corr-…')
    .split('\n');
}

/** Whether an answer matches the documentation, where `…` stands for any lines. */
function fits(lines, shown) {
  if (shown.length === 0) return lines.length === 0;
  const [first, ...rest] = shown;
  if (first !== '…') return lines[0] === first && fits(lines.slice(1), rest);
  return Array.from({ length: lines.length + 1 }, (_, i) => i)
    .some((i) => fits(lines.slice(i), rest));
}

const shortened = (lines) => (lines.length <= SHOWN_LINES
  ? lines
  : [...lines.slice(0, SHOWN_LINES - 2), '…', lines.at(-1)]);

const inDocument = (lines) =>
  lines.map((line, i) => `${i === 0 ? '→ ' : '  '}${line}`.trimEnd());

/** The document with the current answers; `compare` is called for each. */
async function perform(text, compare) {
  const written = [];
  let inBlock = false;
  const lines = text.split('\n');
  for (let i = 0; i < lines.length; i += 1) {
    const line = lines[i];
    if (line.startsWith('```')) inBlock = line === '```agent';
    written.push(line);
    const [, person] = (inBlock && /^\(person: (.*)\)$/.exec(line)) || [];
    if (person) await PEOPLE[person]();
    const [, tool, args] = (inBlock && CALL.exec(line)) || [];
    if (!tool) continue;
    const shown = [];
    while (/^(→|  ) ?/.test(lines[i + 1])) shown.push(lines[i += 1].replace(/^(→ |  )/, ''));
    const answer = await answerTo(tool, args);
    compare(line, answer, shown);
    written.push(...inDocument(shortened(answer)));
  }
  return written.join('\n');
}

test('all calls in docs/agents.md get the documented answer', { timeout: stretched(120_000) }, () =>
  house.step(async () => {
    const text = await readFile(DOCUMENT, 'utf8');
    const isUpdate = process.env.CALLSLIP_UPDATE_GOLDEN === '1';
    let calls = 0;
    const now = await perform(text, (call, answer, shown) => {
      calls += 1;
      if (isUpdate) return;
      assert.ok(fits(answer, shown), `${call}\n${answer.join('\n')}\n--- is not\n${shown.join('\n')}`);
    });
    assert.ok(calls > 10, `${calls} calls`);
    if (isUpdate) await writeFile(DOCUMENT, now);
  }));
