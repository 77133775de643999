/**
 * The reports of an action in a Chromium without an attached debugger: the resulting tabs, files
 * and errors, and the state of the page once it is quiet.
 */
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { stretched } from '../support/patience.js';
import { UnattachedSetting } from './support/unattached_browser.js';

const html = (title, body) => ({ body: `<!doctype html><title>${title}</title>${body}` });

const PAGES = {
  '/windows': html('Windows', `
    <button id="open" onclick="window.open('/second')">Open</button>
    <button id="none" onclick="window.open('')">Open none</button>
    <button id="apart" onclick="window.open('/second?apart', '_blank', 'noopener')">Apart</button>
    <a id="blank" href="/second?blank" target="_blank">Blank</a>
    <a id="file" href="/file">File</a> <a id="named" href="/second" download="page.html">Named</a>
    <button id="fails" onclick="console.error('one'); later(); nowhere()">Fails</button>
    <script>const later = () => Promise.reject(new Error('two'))</script>`),
  '/file': { body: 'pdf', headers: {
    'Content-Type': 'application/pdf', 'Content-Disposition': 'attachment; filename="bill 1.pdf"' } },
  '/shop': html('Shop', `
    <form onsubmit="event.preventDefault(); mail.setAttribute('aria-invalid', true);
      problem.hidden = false"><label>E-mail <input id="mail"></label>
      <p id="problem" hidden>Please enter your e-mail address.</p><button id="order">Order</button></form>
    <button id="menu" aria-expanded="false" onclick="this.setAttribute('aria-expanded', true); items.hidden = false">
      Account</button>
    <ul id="items" role="menu" hidden>${['Orders', 'Addresses', 'Payment', 'Sign out']
    .map((name) => `<li role="menuitem" tabindex="0">${name}</li>`).join('')}</ul>
    <table>${[1, 2, 3].map((row) => `<tr><td>#100${row}</td><td>Ada Lee</td><td>20.00</td><td><button
      id="edit${row}" onclick="this.closest('tr').cells[1].innerHTML = '<input value=\\'Ada Lee\\'><button>Save</button>'">
      Edit</button></td></tr>`).join('')}</table>
    <button id="idle">Idle</button>`),
  '/calendar': html('Calendar', `
    <label>Date <input id="date" onfocus="days.hidden = false" onblur="days.hidden = true"></label>
    <div id="days" hidden><button>1 March</button></div>
    <label>Age <input id="age" onblur="wrong.hidden = this.value > 17"></label>
    <p id="wrong" hidden>You have to be of age</p>
    <button id="go" onclick="said.textContent = 'Went'">Go</button><p id="said">Waits</p>`),
  '/restless': html('Restless', `<button id="go">Go</button><p id="p"></p>
    <script>setInterval(() => { p.textContent = performance.now() }, 10)</script>`),
  '/slow': html('Slow', `<button id="ask" onclick="
    fetch('/answer').then((r) => r.text()).then((text) => { said.textContent = text })">Ask</button>
    <a id="far" href="/far">Far</a> <button id="push" onclick="history.pushState({}, '', '/slow?step=2')">Step</button>
    <p id="said">not yet</p>`),
  '/answer': { body: 'the answer', after: 400 },
  '/far': { ...html('Far away', '<h1>Far</h1>'), after: 1_300 },
};

let setting;

before(async () => {
  setting = await UnattachedSetting.start(PAGES);
});
after(() => setting?.stop());

/** A tab with one of the pages, and functions that act in it. */
async function visit(path, options) {
  const tab = await setting.open(path, options);
  const act = (params) => ({ tab_id: tab, ...params });
  return {
    tab,
    changes: (params) => setting.changes(act(params)),
    click: (selector, params) => setting.changes(act({ action: 'click', selector, ...params })),
  };
}

describe('windows and files', () => {
  let page;
  before(async () => { page = await visit('/windows'); });

  const opened = (path) => new RegExp(`^tab \\d+ opened ${setting.pages.url}${path.replace('?', '\\?')}$`);

  test('a window that the browser blocks is opened in a tab', async () => {
    const [, line, ...more] = await page.click('#open');
    assert.match(line, opened('/second'));
    assert.deepEqual(more, []);
    assert.deepEqual((await page.click('#none')).slice(1), ['popup_blocked about:blank']);
    const apart = await page.click('#apart');
    assert.equal(apart.length, 2, apart.join('\n'));
    assert.match(apart[1], opened('/second?apart'));
  });

  test('a tab that a link opens is reported with its id', async () => {
    const [, line, ...more] = await page.click('#blank');
    assert.match(line, opened('/second?blank'));
    assert.deepEqual(more, []);
    const tab = Number(line.split(' ')[1]);
    assert.equal((await setting.perform({ action: 'get_page', tab_id: tab })).title, 'Second page');
  });

  test('downloads are reported with their file names', async () => {
    assert.deepEqual((await page.click('#file')).slice(1), ['download bill 1.pdf']);
    assert.deepEqual((await page.click('#named')).slice(1), ['download page.html']);
  });

  test('errors are counted', async () => {
    assert.deepEqual((await page.click('#fails')).slice(1), ['console 3 errors']);
  });
});

describe('an answer', () => {
  test('comes soon if nothing happens, and in time if the page is never quiet', async () => {
    const quiet = await visit('/windows');
    const restless = await visit('/restless');
    const took = async ({ click }, selector) => {
      const began = performance.now();
      await click(selector);
      return performance.now() - began;
    };
    await took(quiet, 'body');
    const times = [];
    for (let turn = 0; turn < 9; turn += 1) times.push(await took(quiet, 'body'));
    const median = times.sort((a, b) => a - b)[4];
    assert.ok(median <= stretched(120), `${median} ms`);
    await took(restless, '#go');
    const most = await took(restless, '#go');
    assert.ok(most <= stretched(1_200), `${most} ms`);
  });

  test('includes the result of a request', async () => {
    const page = await visit('/slow');
    assert.deepEqual((await page.click('#ask')).slice(1), ['~ the answer']);
    assert.deepEqual((await page.click('#said')).slice(1), ['nothing changed']);
    assert.deepEqual((await page.click('#push')).slice(1), [`→ ${setting.pages.url}/slow?step=2 Slow`]);
  });

  test('describes the page that a link leads to', async () => {
    const page = await visit('/slow');
    assert.deepEqual((await page.click('#far')).slice(1), [`→ ${setting.pages.url}/far Far away`, '# Far']);
  });
});

describe('the text of an answer', () => {
  let page;
  before(async () => { page = await visit('/shop'); });

  const LIMITS = [
    ['a problem in a form', '#order', 40, /\+ Please enter your e-mail address\./],
    ['a menu', '#menu', 70, /\+ {2}e\d+ menuitem Sign out/],
    ['a row that is edited', '#edit2', 70, /e\d+ textbox = Ada Lee/],
    ['no change', '#idle', 15, /^nothing changed$/m],
  ];
  for (const [name, selector, most, pattern] of LIMITS) {
    test(`reports ${name} within ${most} tokens`, async () => {
      const [first, ...lines] = await page.click(selector);
      assert.match(first, /^clicked e\d+ button /);
      const text = lines.join('\n');
      assert.match(text, pattern);
      const tokens = (first.length + 8 + text.length) / 4;
      assert.ok(tokens <= most, `${tokens} tokens:\n${first}\n${text}`);
    });
  }
});

for (const background of [false, true]) {
  test(`focus and blur take effect in ${background ? 'a background' : 'the front'} tab`, async () => {
    const page = await visit('/calendar', { background });
    const opened = await page.click('#date');
    assert.ok(opened.some((line) => /^\+ +e\d+ button 1 March$/.test(line)), opened.join('\n'));
    const typed = await page.changes({ action: 'type', selector: '#age', text: '12' });
    assert.ok(typed.some((line) => /^- e\d+ button 1 March$/.test(line)), typed.join('\n'));
    const went = await page.click('#go');
    assert.ok(went.includes('+ You have to be of age'), went.join('\n'));
    assert.ok(went.includes('~ Went'), went.join('\n'));
  });
}
