/**
 * The tokens of a look at a page, ours beside others': bytes / 4 of the text of the answer.
 *
 *   node tests/tokens/run.mjs [--peers FOLDER]
 *
 * It is not among the tests of ./dev test: it installs `@playwright/mcp` and `chrome-devtools-mcp`
 * from npm, into a temporary folder or the named one. CALLSLIP_BIN is the folder of our programs.
 */
import { execFileSync } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer } from 'node:http';
import { once } from 'node:events';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { LOOKED_AT, serve } from '../e2e/support/eyes_pages.js';
import { House } from '../e2e/support/house.js';
import { peers } from './peers.js';

const PACKAGES = ['@playwright/mcp@0.0.83', 'chrome-devtools-mcp@1.11.0'];

const tokens = (text) => Math.round(Buffer.byteLength(text) / 4);
const textOf = (answer) =>
  answer.content.filter(({ type }) => type === 'text').map(({ text }) => text).join('\n');
const listed = async (client) => tokens(JSON.stringify(await client.listTools()));

/** A server of the pages; one page has a frame of another site, which is a second server. */
async function servePages() {
  const sites = {};
  for (const name of ['other', 'main']) {
    const server = createServer(({ url }, response) => {
      const body = serve(url, sites.other?.url);
      response.writeHead(body === undefined ? 404 : 200, { 'Content-Type': 'text/html' }).end(body);
    }).listen(0, '127.0.0.1');
    await once(server, 'listening');
    const host = name === 'other' ? 'localhost' : '127.0.0.1';
    sites[name] = { server, url: `http://${host}:${server.address().port}` };
  }
  return sites;
}

function install(folder) {
  const args = ['install', '--prefix', folder, '--no-audit', '--no-fund', ...PACKAGES];
  execFileSync('npm', args, { stdio: 'inherit' });
}

/** Our tools: `{tools, look(url)}`, like the peers. */
async function ours(house) {
  const agent = await house.agentOverBridge();
  const call = async (tool, args) => {
    const answer = await agent.call(tool, { wait_ms: 20_000, ...args });
    if (answer.isError) throw new Error(textOf(answer));
    return textOf(answer);
  };
  await house.browser.open(`${house.pages.url}/second`);
  return {
    tools: await listed(agent.client),
    async look(url) {
      await call('interact', { action: 'navigate', url });
      return {
        page: await call('analyze', { what: 'page' }),
        interactive: await call('analyze', { what: 'page', view: 'interactive' }),
      };
    },
  };
}

async function measure(folder) {
  const sites = await servePages();
  const house = await House.open();
  const theirs = await peers(folder);
  try {
    const callslip = await ours(house);
    const named = Object.entries(theirs);
    console.log(`| page | callslip | interactive | ${named.map(([name]) => name).join(' | ')} |`);
    console.log(`|---|---|---|${'---|'.repeat(named.length)}`);
    for (const path of LOOKED_AT) {
      const url = sites.main.url + path;
      const { page, interactive } = await callslip.look(url);
      const cells = [tokens(page), tokens(interactive)];
      for (const [, peer] of named) cells.push(tokens(textOf(await peer.look(url))));
      console.log(`| ${path.slice(1)} | ${cells.join(' | ')} |`);
    }
    const lists = await Promise.all(named.map(([, { client }]) => listed(client)));
    console.log(`| the list of tools | ${callslip.tools} | | ${lists.join(' | ')} |`);
  } finally {
    for (const { client } of Object.values(theirs)) await client.close();
    await house.close();
    for (const { server } of Object.values(sites)) server.close();
  }
}

const named = process.argv.indexOf('--peers');
const folder = named > 0 ? process.argv[named + 1] : await mkdtemp(join(tmpdir(), 'callslip-peers-'));
try {
  if (named < 0) install(folder);
  await measure(folder);
} finally {
  if (named < 0) await rm(folder, { recursive: true, force: true });
}
