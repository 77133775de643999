/**
 * Dialogs in a Chromium without an attached debugger: they hold up no command, and are the
 * browser's own while no command runs.
 */
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { stretched } from '../support/patience.js';
import { UnattachedSetting } from './support/unattached_browser.js';

/**
 * A page has its own functions again 1 s after the end of a command, whose last step is the
 * outline.
 */
const QUIET_MS = stretched(3_000);

const html = (title, body) => ({ body: `<!doctype html><title>${title}</title>${body}` });

const PAGES = {
  '/dialogs': html('Dialogs', `
    <button id="remove" onclick="said.textContent = confirm('Remove?') ? 'removed' : 'kept'">Remove</button>
    <button id="name" onclick="said.textContent = 'name ' + prompt('Your name?', 'nobody')">Name</button>
    <button id="late" onclick="setTimeout(() => { alert('late'); said.textContent = 'shown' }, 30)">Late</button>
    <button id="later" onclick="setTimeout(() => alert('later'), 600)">Later</button>
    <iframe id="inner" src="/inner"></iframe><p id="said">nothing said</p>`),
  '/inner': html('Inner', '<button id="in" onclick="alert(\'from a frame\')">Inside</button>'),
  '/inline': html('Inline', `<p id="said"></p>
    <script>alert('at the start'); said.textContent = confirm('Go on?') ? 'on we go' : 'stopped'</script>
    <iframe srcdoc="<script>alert('from srcdoc')</script>Framed"></iframe>`),
  '/busy': html('Busy', `<button id="spin" onclick="setTimeout(() => {
    for (const end = Date.now() + 2_500; Date.now() < end;); }, 300)">Spin</button>
    <button id="native" onclick="setTimeout(() => alert('native'), ${QUIET_MS})">Native</button>`),
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
    value: (script) => setting.perform(act({ action: 'execute_js', script })),
    report: (params) => setting.gateway.run(act(params)),
  };
}

/** Only time can show that there has been no command for a while. */
const idle = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

for (const background of [false, true]) {
  describe(`dialogs ${background ? 'in a background tab' : 'in the front tab'}`, () => {
    let page;
    before(async () => {
      page = await visit('/dialogs', { background });
      assert.equal(await page.value('document.hidden'), background);
    });

    test('are dismissed, accepted, and answered', async () => {
      assert.deepEqual((await page.click('#remove')).slice(1),
        ['~ kept', 'dialog confirm "Remove?" dismissed']);
      assert.deepEqual((await page.click('#remove', { dialog: 'accept' })).slice(1),
        ['~ removed', 'dialog confirm "Remove?" accepted']);
      assert.deepEqual((await page.click('#name', { dialog: 'Ada' })).slice(1),
        ['~ name Ada', 'dialog prompt "Your name?" answered "Ada"']);
      assert.deepEqual((await page.click('#name', { dialog: 'accept' })).slice(1),
        ['~ name nobody', 'dialog prompt "Your name?" answered "nobody"']);
      assert.deepEqual((await page.click('#name')).slice(1),
        ['~ name null', 'dialog prompt "Your name?" dismissed']);
    });

    test('are reported when a timer opens them, and do not block the next action', async () => {
      const lines = (await page.click('#late')).slice(1);
      // The browser delays timers of background tabs to the next full second.
      if (background && lines[0] === 'nothing changed') {
        await page.value('new Promise((resolve) => setTimeout(resolve, 1))');
      } else {
        assert.deepEqual(lines, ['~ shown', 'dialog alert "late"']);
      }
      await page.click('#later');
      await page.value('new Promise((resolve) => setTimeout(resolve, 700))');
      assert.equal(await page.value('document.readyState'), 'complete');
    });

    test('are reported without blocking when a frame opens them', async () => {
      const { result } = await page.report({
        action: 'execute_js', script: 'document.querySelector("#inner").contentDocument.querySelector("#in").click()',
      });
      assert.match(result.page, /\ndialog alert "from a frame"$/);
    });

    test('are answered while a page loads, including in its frames', async () => {
      const url = `${setting.pages.url}/inline`;
      const lines = await page.changes({ action: 'navigate', url });
      assert.equal(lines[1], `→ ${url} Inline`);
      for (const line of ['dialog alert "at the start"', 'dialog confirm "Go on?" dismissed',
        'dialog alert "from srcdoc"', 'stopped']) {
        assert.ok(lines.some((told) => told.trim() === line), `${line}: ${lines.join('\n')}`);
      }
      const accepted = await page.changes({ action: 'reload', dialog: 'accept' });
      assert.ok(accepted.includes('on we go'), accepted.join('\n'));
    });
  });
}

test('a page has the native functions of the browser while no command runs', async () => {
  const page = await visit('/dialogs');
  const NAMES = ['alert', 'confirm', 'prompt', 'open', 'error'];
  await page.value(`
    window.now = () => [alert, confirm, prompt, open, console.error];
    setTimeout(() => { window.idle = now(); }, ${QUIET_MS});
    window.others = () => { const at = now(); return ${JSON.stringify(NAMES)}.filter((name, i) => at[i] !== idle[i]); };
    0`);
  await idle(QUIET_MS + 100);
  assert.deepEqual(await page.value(`setTimeout(() => { window.later = others(); }, ${QUIET_MS}); others()`), NAMES);
  await idle(QUIET_MS + 100);
  assert.deepEqual(await page.value('later'), []);
  assert.equal(await page.value('Object.getOwnPropertySymbols(window).length'), 0);
  assert.equal(await page.value('String(idle[0])'), 'function alert() { [native code] }');
});

describe('a blocked page', () => {
  let page;
  before(async () => { page = await visit('/busy'); });

  async function refused() {
    const began = performance.now();
    const { error } = await page.report({ action: 'click', selector: '#spin' });
    assert.equal(error?.code, 'page_blocked');
    assert.equal(error.may_have_executed, false);
    const took = performance.now() - began;
    assert.ok(took < stretched(1_300), `${took} ms`);
  }

  test('is reported as page_blocked while a script keeps it busy', async () => {
    await page.click('#spin');
    await idle(300);
    await refused();
    await idle(1_500);
    assert.deepEqual((await page.click('body')).slice(1), ['nothing changed']);
  });

  test('is reported as page_blocked while a native dialog is open, until navigation', async () => {
    await page.click('#native');
    await idle(QUIET_MS + 200);
    await refused();
    await page.changes({ action: 'navigate', url: `${setting.pages.url}/second` });
  });
});
