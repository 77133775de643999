/** The texts and pictures of the store's listing are complete and within its limits. */
import assert from 'node:assert/strict';
import { existsSync, readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { root } from './support.mjs';

const store = join(root, 'deploy/store');
const read = (file) => readFileSync(join(root, file), 'utf8');
const manifest = JSON.parse(read('extension/manifest.json'));

/** The limits of the store's dashboard and of the manifest's format, in characters. */
const LIMITS = [
  ['the name', manifest.name, 75],
  ['the summary', manifest.description, 132],
  ['the description', read('deploy/store/description.txt'), 16_000],
  ['the single purpose', read('deploy/store/purpose.txt'), 1000],
  ...[...read('extension/README.md').matchAll(/^\| `([^`]+)` \| (.+) \|$/gm)]
    .filter(([, name]) => [...manifest.permissions, ...manifest.host_permissions].includes(name))
    .map(([, name, why]) => [`the reason for ${name}`, why, 1000]),
];

describe('the store listing', () => {
  test('has a reason for each permission', () => {
    assert.equal(LIMITS.length, 4 + manifest.permissions.length + manifest.host_permissions.length);
  });

  for (const [what, text, limit] of LIMITS) {
    test(`has at most ${limit} characters for ${what}`, () => {
      assert.ok(text.trim().length > 0 && text.length <= limit, `${text.length}`);
    });
  }

  test('links only to existing files', () => {
    const links = [...read('deploy/store/README.md').matchAll(/\]\(([^)#]+)/g)].map(([, file]) => file);
    assert.ok(links.length >= 5);
    assert.deepEqual(links.filter((file) => !existsSync(join(store, file))), []);
  });

  test('describes each action that agents can request', () => {
    // Words of the description, by action: a new action has to be described.
    const words = {
      execute_js: 'run a script', navigate: 'follow links and addresses', back: 'go back', forward: 'go back',
      reload: 'reload', click: 'click', type: 'type', select: 'select options', scroll: 'scroll',
      press: 'press keys', hover: 'click', wait_for: 'wait for', get_page: 'read a page',
      query: 'text or elements', screenshot: 'screenshots', list_tabs: 'find tabs',
      open_tab: 'open', close_tab: 'close', console: 'console', network: 'requests',
      draw_mode: 'Draw', page: 'outline', find: 'find text', fill: 'fill forms', drag: 'drag',
      upload: 'upload files', select_text: 'select text', batch: 'several of these in one command',
    };
    const actions = [...read('extension/README.md').split('## What it does with a command')[1]
      .split('\n\n')[1].matchAll(/^\| (`[^|]+`) \|/gm)]
      .flatMap(([, cell]) => [...cell.matchAll(/`(\w+)`/g)].map(([, name]) => name));
    const text = read('deploy/store/description.txt');
    assert.ok(actions.length > 15, actions.join());
    assert.deepEqual(actions.filter((name) => !words[name] || !text.includes(words[name])), []);
  });

  test('has one to five pictures of 1280 by 800 pixels', () => {
    const pictures = readdirSync(join(store, 'pictures'));
    assert.ok(pictures.length >= 1 && pictures.length <= 5, pictures.join());
    for (const name of pictures) {
      const png = readFileSync(join(store, 'pictures', name));
      assert.equal(png.toString('latin1', 1, 4), 'PNG', name);
      assert.deepEqual([png.readUInt32BE(16), png.readUInt32BE(20)], [1280, 800], name);
      // 24 bits per pixel, without transparency.
      assert.deepEqual([png[24], png[25]], [8, 2], name);
    }
  });
});
