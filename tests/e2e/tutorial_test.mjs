/** docs/tutorial.md, line by line: its input is typed, and its output is compared. */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { test } from 'node:test';
import { stretched } from '../support/patience.js';
import { startBrowser } from './support/chromium.js';
import { startPageServer } from './support/page_server.js';
import { binary, endWithThis } from './support/processes.js';
import { Services } from './support/services.js';

const TUTORIAL = new URL('../../docs/tutorial.md', import.meta.url);

/** Printed after each line. */
const DONE = '<done>';

/** The code blocks in order, each with its heading. */
function blocksOf(markdown) {
  const blocks = [];
  let heading = '';
  let block;
  for (const line of markdown.split('\n')) {
    const fence = line.match(/^```(\w*)$/);
    if (fence && block) {
      blocks.push(block);
      block = undefined;
    } else if (fence) {
      block = { heading, language: fence[1], lines: [] };
    } else if (block) {
      block.lines.push(line);
    } else if (line.startsWith('## ')) {
      heading = line.slice(3);
    }
  }
  assert.equal(block, undefined, 'a block does not end');
  return blocks;
}

/** A terminal: runs lines one by one, and returns the output of each. */
class Terminal {
  #shell;
  #output = '';
  #printed = () => {};

  constructor(home) {
    const env = { HOME: home, PATH: '/usr/local/bin:/usr/bin:/bin' };
    this.#shell = endWithThis(spawn('bash', { env, cwd: home }));
    for (const stream of [this.#shell.stdout, this.#shell.stderr]) {
      stream.on('data', (data) => {
        this.#output += data;
        this.#printed();
      });
    }
  }

  /** The output of a line. `answer` is the user's input while it runs. */
  async type(line, answer = '') {
    this.#output = '';
    this.#shell.stdin.write(`{\n${line}\n} <<< '${answer}'\nprintf '${DONE}'\n`);
    while (!this.#output.includes(DONE)) {
      await new Promise((resolve) => { this.#printed = resolve; });
    }
    return this.#output.replace(DONE, '');
  }

  async close() {
    this.#shell.stdin.end();
    if (this.#shell.exitCode === null) await once(this.#shell, 'close');
  }
}

/** The shown output as a pattern: `…` stands for anything. */
const patternOf = (shown) =>
  new RegExp(shown.split('…').map((part) => part.replace(/[.*+?^${}()|[\]\\]/g, '\\$&'))
    .join('[^]*'));

test('the tutorial shows the actual output', { timeout: stretched(60_000) }, async (context) => {
  const services = await Services.open();
  context.after(() => services.close());
  const pages = await startPageServer();
  services.onClose(() => pages.stop());
  const home = await mkdtemp(join(tmpdir(), 'callslip-tutorial-'));
  services.onClose(() => rm(home, { recursive: true, force: true }));
  await mkdir(join(home, '.cursor'));

  // Replaces the reader's addresses and pages by the test's own.
  const here = (text) => text.replaceAll('127.0.0.1:7890', services.gateway.address)
    .replaceAll('build/dev/bin/callslip-bridge doctor',
      `${dirname(binary('callslip-bridge'))}/callslip-bridge doctor --gateway ${services.gatewayUrl}`)
    .replaceAll('Example Domain', 'Test page');
  // The manual steps before the first block under a heading.
  const byHand = {
    '3. The browser': async () => {
      const browser = await startBrowser({ serverUrl: services.gatewayUrl });
      services.onClose(() => browser.stop());
      await browser.open(`${pages.url}/`);
      // A reader takes longer than the extension takes to connect.
      let report;
      do {
        report = await terminal.type(here('build/dev/bin/callslip-bridge doctor'));
      } while (!/^ok +tab /m.test(report));
    },
  };

  const terminal = new Terminal(home);
  services.onClose(() => terminal.close());
  const blocks = blocksOf(await readFile(TUTORIAL, 'utf8'));
  assert.deepEqual(blocks.shift(), { heading: '1. Start', language: 'sh', lines: ['./dev up'] });
  let printed = '';
  let shown = 0;
  for (const { heading, language, lines } of blocks) {
    await byHand[heading]?.();
    delete byHand[heading];
    if (language === 'sh') {
      printed = '';
      for (const line of lines) printed += await terminal.type(here(line), 'y');
    } else {
      assert.equal(language, 'text');
      assert.match(printed, patternOf(here(lines.join('\n'))));
      shown += 1;
    }
  }
  assert.equal(shown, blocks.filter(({ language }) => language === 'sh').length);
  assert.deepEqual(Object.keys(byHand), []);
});
