import assert from 'node:assert/strict';
import { beforeEach, describe, test } from 'node:test';
import { createDrawMode, samePage } from '../../extension/src/draw_mode/draw_mode.js';
import { openDrawings } from '../../extension/src/draw_mode/drawings.js';
import { FakeBrowser } from './support/fake_browser.mjs';
import { FakeStorage } from './support/fake_storage.mjs';
import { settled } from './support/settled.mjs';

const PAGE = 'http://page/';
const MARKS = [{ id: 'a1', kind: 'text', note: 'here', rect: { x: 1, y: 2, width: 0, height: 0 } }];

let browser;
let drawings;
let drawMode;
let delivered;

/** All pages are gone: no script runs in them. */
const pageScripts = {
  async run() {
    throw new Error('No page.');
  },
};

beforeEach(async () => {
  browser = new FakeBrowser([]);
  drawings = await openDrawings(new FakeStorage());
  delivered = [];
  drawMode = createDrawMode({
    browser, drawings: async () => drawings, pageScripts, captures: {}, newId: () => 'd-1', log() {},
  });
  drawMode.watchTabs();
});

const add = (fields = {}) =>
  drawings.add({ id: 'd-1', tabId: 7, url: PAGE, title: 'Page', annotations: MARKS, ...fields });

const post = { async deliver({ id }) { delivered.push(id); } };

const says = (what, tabId = 7) =>
  drawMode.heard({ what, id: 'd-1', url: PAGE, title: 'Page', annotations: MARKS }, tabId);

describe('draw mode', () => {
  test('posts a finished drawing once, even if its page provides no pictures', async () => {
    await add();
    await drawMode.postWith(post);
    await says('done');
    assert.deepEqual(delivered, ['d-1']);
    assert.equal(drawings.get('d-1').state, 'sending');
    await says('done');
    assert.deepEqual(delivered, ['d-1']);
  });

  test('posts the drawings that were finished before the service worker was stopped', async () => {
    await add({ state: 'sending' });
    await add({ id: 'd-2', state: 'refused' });
    await add({ id: 'd-3', state: 'finishing' });
    await add({ id: 'd-4', state: 'drawing' });
    await drawMode.postWith(post);
    await settled();
    assert.deepEqual(delivered, ['d-1', 'd-2', 'd-3']);
  });

  test('accepts messages about a drawing only from its own tab', async () => {
    await add({ annotations: [] });
    await assert.rejects(says('changed', 8));
    await assert.rejects(says('cancel', 8));
    assert.deepEqual(drawings.get('d-1').annotations, []);
    await says('changed');
    assert.deepEqual(drawings.get('d-1').annotations, MARKS);
    await says('cancel');
    assert.deepEqual(drawings.all(), []);
  });

  test('keeps a drawing whose tab is closed until a person sends it', async () => {
    await add();
    browser.tabs.onRemoved.fire(7);
    await settled();
    const [waiting] = await drawMode.waiting();
    assert.deepEqual(waiting,
      { id: 'd-1', title: 'Page', url: PAGE, state: 'drawing', error: undefined, count: 1 });
    await drawMode.postWith(post);
    assert.deepEqual(delivered, []);
    await drawMode.send('d-1');
    assert.deepEqual(delivered, ['d-1']);
  });

  test('discards an empty drawing whose tab is closed', async () => {
    await add({ annotations: [] });
    browser.tabs.onRemoved.fire(7);
    await settled();
    assert.deepEqual(drawings.all(), []);
  });

  test('discards a drawing that a person does not want to send', async () => {
    await add({ left: true });
    await drawMode.forget('d-1');
    assert.deepEqual(await drawMode.waiting(), []);
    await assert.rejects(says('done'), /sent or discarded/);
  });

  test('identifies the page of a drawing by its address without the fragment', () => {
    assert.ok(samePage('http://page/a?b=1#top', 'http://page/a?b=1'));
    assert.ok(!samePage('http://page/a?b=1', 'http://page/a?b=2'));
    assert.ok(!samePage(undefined, 'http://page/'));
  });
});
