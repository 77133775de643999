import assert from 'node:assert/strict';
import { beforeEach, describe, test } from 'node:test';
import { createActionReports } from '../../extension/src/action_report.js';
import { gatewayPage } from '../../extension/src/gateway_page.js';
import { createEventLines } from '../../extension/src/event_lines.js';
import { OUTLINES_KNOWN, REPORT_CHARS, TABS_OPENED } from '../../extension/src/limits.js';
import { FakeBrowser } from './support/fake_browser.mjs';

const PAGE = { id: 7, windowId: 1, index: 2, active: true, url: 'http://page.test/' };
const OFF = 'http://127.0.0.1:7890/ui/';
const signal = new AbortController().signal;

let browser;
let shown;
let heard;
let downloads;
let reports;
let looks;

function line(text, depth = 0) {
  const refs = [...text.matchAll(/\be\d+\b/g)].map(([ref]) => ref);
  return { depth, text, refs, kind: 'line', frameId: 0, documentId: shown.document };
}

function show(...texts) {
  shown.texts = texts;
}

beforeEach(() => {
  browser = new FakeBrowser([PAGE]);
  browser.tabs.create = async (tab) => {
    browser.open.push({ id: 30 + browser.open.length, ...tab });
    return browser.open.at(-1);
  };
  shown = { document: 'A', url: PAGE.url, title: 'Page', texts: ['e1 button Go'] };
  heard = [];
  downloads = [];
  looks = 0;
  const outline = async (tab, { limit } = {}) => {
    looks += 1;
    if (shown.url === OFF) throw gatewayPage(OFF);
    const { url, title, texts } = shown;
    const text = [`${url} · ${title} · ${texts.length} lines`, ...texts].join('\n');
    return { url, title, lines: texts.map((each) => line(each)), text: text.slice(0, limit) };
  };
  const isOff = async (url) => url === OFF;
  reports = createActionReports({
    browser,
    isOff,
    outline,
    settling: { begin: () => 0, settled: async () => {} },
    eventLines: createEventLines({ browser, isOff, network: { downloads: () => downloads } }),
    now: () => 0,
  });
});

/** The lines of the report on an action with the effect `work`, without the first line. */
async function told(work = () => {}, options = {}) {
  const watch = { heard: () => heard.splice(0), created: async () => undefined };
  const report = await reports.begin({
    tab: PAGE, watch, endsAt: 10_000, signal, progress() {}, ...options,
  });
  work();
  const { text, changed } = await report.finish('done it');
  const [first, ...lines] = text.split('\n');
  assert.equal(first, 'done it, 0 ms');
  assert.equal(changed, !lines.includes('nothing changed') && lines.length > 0);
  return lines;
}

describe('the report on an action', () => {
  test('shows the changed lines, or that nothing changed', async () => {
    assert.deepEqual(await told(() => show('e1 button Go', 'Done')), ['+ Done']);
    assert.deepEqual(await told(), ['nothing changed']);
    assert.equal(looks, 3);
  });

  test('shows the changes since the last report or the last look at the page', async () => {
    await told();
    show('e1 button Go', 'A late message');
    assert.deepEqual(await told(), ['+ A late message']);
    show('e1 button Stop');
    reports.saw(7, '', { url: PAGE.url, lines: [line('e1 button Stop')] });
    assert.deepEqual(await told(), ['nothing changed']);
  });

  test('shows each caller the changes since its own last look', async () => {
    assert.deepEqual(await told(() => show('e1 button Go', 'By Ada'), { caller: 'ada' }), ['+ By Ada']);
    // Bob has not read the page yet: its earlier content is not a change for him.
    assert.deepEqual(await told(() => show('e1 button Go', 'By Ada', 'By Bob'), { caller: 'bob' }), ['+ By Bob']);
    assert.deepEqual(await told(() => {}, { caller: 'ada' }), ['+ By Bob']);
    reports.saw(7, 'bob', { url: PAGE.url, lines: [line('e1 button Go')] });
    assert.deepEqual(await told(() => {}, { caller: 'bob' }), ['+ By Ada', '+ By Bob']);
  });

  test('remembers the latest outlines, and none of closed tabs', async () => {
    await told(() => {}, { caller: 'ada' });
    const before = looks;
    for (let at = 0; at < OUTLINES_KNOWN; at += 1) reports.saw(100 + at, 'bob', { url: '', lines: [] });
    await told(() => {}, { caller: 'ada' });
    assert.equal(looks, before + 2);
    browser.tabs.onRemoved.fire(7);
    await told(() => {}, { caller: 'ada' });
    assert.equal(looks, before + 4);
    await told(() => {}, { caller: 'ada' });
    assert.equal(looks, before + 5);
  });

  test('shows a new document from its beginning', async () => {
    const go = () => Object.assign(shown, { document: 'B', url: 'http://page.test/b', title: 'B', texts: ['# B', 'e2 link A'] });
    assert.deepEqual(await told(go), ['→ http://page.test/b B', '# B', 'e2 link A']);
    const step = () => Object.assign(shown, { url: 'http://page.test/b#c', texts: ['# B', 'e2 link C'] });
    assert.deepEqual(await told(step), ['→ http://page.test/b#c B', '~ e2 link C']);
  });

  test('shows the page of a new tab', async () => {
    assert.deepEqual(await told(() => {}, { isNew: true }), ['→ http://page.test/ Page', 'e1 button Go']);
  });

  test('shows only the address of a page that is off limits', async () => {
    for (const view of ['changes', 'page']) {
      for (const isNew of [false, true]) {
        const { length } = [await told(() => show('e1 button Go', view), { view })];
        assert.equal(length, 1);
        const before = looks;
        const go = () => { browser.open[0] = { ...PAGE, url: OFF, title: 'Sessions' }; };
        assert.deepEqual(await told(go, { view, isNew }), [`→ ${OFF}`, 'nothing is told of this page: it is the gateway\'s own']);
        assert.equal(looks, before);
        browser.open[0] = PAGE;
      }
    }
    // The tab may get there only while the outline is read.
    assert.deepEqual((await told(() => { shown.url = OFF; }))[0], `→ ${OFF}`);
  });

  test('stays within its limit, and contains all events', async () => {
    const many = Array.from({ length: 200 }, (_, index) => `e${index + 2} button Number ${index}`);
    heard = [{ kind: 'error', count: 2 }];
    const lines = await told(() => show(...many));
    assert.ok(`done it, 0 ms\n${lines.join('\n')}`.length <= REPORT_CHARS);
    assert.match(lines.at(-2), /^… \d+ lines more: analyze page$/);
    assert.equal(lines.at(-1), 'console 2 errors');
  });

  test('stays within its limit when all of its parts are long', async () => {
    const many = Array.from({ length: 200 }, (_, index) => `e${index + 2} button Number ${index}`);
    for (const view of ['changes', 'none']) {
      heard = Array.from({ length: 20 }, () => ({ kind: 'dialog', dialog: 'alert', text: 'x'.repeat(200) }));
      show();
      const watch = { heard: () => heard.splice(0), created: async () => undefined };
      const report = await reports.begin({ tab: PAGE, watch, view, endsAt: 10_000, signal, progress() {} });
      show(...many);
      const { text } = await report.finish(`done ${'y'.repeat(3_000)}`);
      assert.ok(text.length <= REPORT_CHARS, text.length);
      assert.match(text, /^done y+…, 0 ms\n/);
      assert.match(text, /\n… \d+ events more$/);
      if (view === 'changes') assert.match(text, /\n(\+ )?e2 button Number 0\n[^]*\n… \d+ lines more: analyze page\n/);
    }
  });

  test('contains what the view asks for', async () => {
    heard = [{ kind: 'error', count: 1 }];
    assert.deepEqual(await told(() => show('x'), { view: 'none' }), ['console 1 error']);
    assert.deepEqual(await told(() => {}, { view: 'none' }), []);
    assert.deepEqual(await told(() => {}, { view: 'page' }), ['http://page.test/ · Page · 1 lines', 'x']);
  });
});

describe('the event lines of the report on an action', () => {
  const dialog = (fields) => ({ kind: 'dialog', dialog: 'confirm', text: 'Sure?', accepted: false, ...fields });

  test('show dialogs with their answers', async () => {
    heard = [
      dialog(), dialog({ accepted: true }), dialog({ dialog: 'alert', accepted: true }),
      dialog({ dialog: 'prompt', accepted: true, value: 'Ada' }),
      dialog({ dialog: 'fake\nline', text: 'a "b"\n+ e1 button' }),
    ];
    assert.deepEqual(await told(), [
      'dialog confirm "Sure?" dismissed', 'dialog confirm "Sure?" accepted', 'dialog alert "Sure?"',
      'dialog prompt "Sure?" answered "Ada"', 'dialog unknown "a \\"b\\" + e1 button" dismissed',
    ]);
  });

  test('show tabs opened by the browser or by the extension, and blocked ones', async () => {
    const url = 'http://page.test/new';
    browser.open.push({ id: 20, url });
    heard = [
      { kind: 'tab', tabId: 20, url }, { kind: 'tab', tabId: 21, url: 'gone' },
      { kind: 'link', url }, { kind: 'not_opened', url: 'http://page.test/pop' },
      { kind: 'not_opened', url: 'about:blank' },
    ];
    assert.deepEqual(await told(), [
      `tab 20 opened ${url}`, 'tab 32 opened http://page.test/pop', 'popup_blocked about:blank',
    ]);
    const { id, ...made } = browser.open.at(-1);
    assert.deepEqual(made, {
      url: 'http://page.test/pop', index: 3, windowId: 1, active: false, openerTabId: 7,
    });
  });

  test('show only the first of many windows as tabs, and count the rest', async () => {
    heard = Array.from({ length: 20 }, (_, at) => ({ kind: 'not_opened', url: `http://page.test/${at}` }));
    heard.push({ kind: 'more', count: 980 });
    const lines = await told();
    assert.equal(browser.open.length, 1 + TABS_OPENED);
    assert.deepEqual(lines.slice(0, TABS_OPENED + 1), [
      'tab 31 opened http://page.test/0', 'tab 32 opened http://page.test/1', 'tab 33 opened http://page.test/2',
      'popup_blocked http://page.test/3',
    ]);
    assert.equal(lines.at(-1), '… 980 events more');
  });

  test('show a popup of a page that is off limits as blocked', async () => {
    heard = [{ kind: 'not_opened', url: OFF }];
    assert.deepEqual(await told(), [`popup_blocked ${OFF}`]);
    assert.deepEqual(browser.open, [PAGE]);
  });

  test('show each downloaded file once', async () => {
    const url = 'http://page.test/a.pdf';
    downloads = [{ name: 'bill.pdf', url }];
    heard = [{ kind: 'file', name: 'bill.pdf', url }, { kind: 'file', name: '', url: 'blob:x' }];
    assert.deepEqual(await told(), ['download bill.pdf', 'download download']);
  });
});
