/**
 * Pages that make endless events and tabs while a command runs, in a Chromium without an attached
 * debugger.
 */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { stretched } from '../support/patience.js';
import { UnattachedSetting } from './support/unattached_browser.js';

const html = (title, body) => ({ body: `<!doctype html><title>${title}</title>${body}` });

const PAGES = {
  '/flood': html('Flood', `<button id="windows">Windows</button><button id="events">Events</button><button id="calm">Calm</button>
    <script>
    let name;
    document.addEventListener('callslip-here', ({ detail }) => { name = detail; });
    windows.onclick = () => { for (let at = 0; at < 2000; at += 1) window.open('/second?' + at); };
    events.onclick = () => {
      for (let at = 0; at < 20000; at += 1) {
        const detail = { kind: 'dialog', dialog: 'alert', text: 'x'.repeat(500), about: 'drawing' };
        document.dispatchEvent(new CustomEvent(name + '-told', { detail }));
        window.postMessage({ at });
        if (at < 2000) console.error(at);
      }
    };
    </script>`),
};

let setting;
before(async () => {
  setting = await UnattachedSetting.start(PAGES);
});
after(() => setting?.stop());

const active = async () => (await setting.perform({ action: 'list_tabs' })).tabs.filter((tab) => tab.active)
  .map(({ tab_id: id }) => id);

test('a flood of windows opens a few tabs in the background, and the rest is counted', async () => {
  const tab = await setting.open('/flood');
  const before = await setting.perform({ action: 'list_tabs' });
  assert.deepEqual(await active(), [tab]);
  const lines = await setting.changes({ action: 'click', selector: '#windows', tab_id: tab });
  assert.equal(lines.filter((line) => /^tab \d+ opened /.test(line)).length, 3, lines.join('\n'));
  assert.ok(lines.filter((line) => line.startsWith('popup_blocked ')).length < 20);
  const [, more] = /^… (\d+) events more$/.exec(lines.at(-1)) ?? [];
  assert.ok(more > 900 && more <= 2_000, lines.at(-1));
  assert.deepEqual(await active(), [tab]);
  const tabs = await setting.perform({ action: 'list_tabs' });
  assert.equal(tabs.tabs.length, before.tabs.length + 3);
  assert.deepEqual((await setting.changes({ action: 'click', selector: '#calm', tab_id: tab })).slice(1), ['nothing changed']);
});

test('a flood of events is partly listed, counted, and absent from the next report', async () => {
  const tab = await setting.open('/flood');
  // By then the initial stand-ins are gone, and the page sees the next ones begin.
  await new Promise((resolve) => { setTimeout(resolve, stretched(1_500)); });
  const lines = await setting.changes({ action: 'click', selector: '#events', tab_id: tab });
  assert.ok(lines.join('\n').length <= 2_000);
  assert.match(lines[1], /^dialog alert "x+" *$/);
  const [, more] = /^… (\d+) events more$/.exec(lines.at(-1)) ?? [];
  assert.ok(more > 8_000 && more <= 20_000, lines.at(-1));
  await new Promise((resolve) => { setTimeout(resolve, 100); });
  assert.deepEqual((await setting.changes({ action: 'click', selector: '#calm', tab_id: tab })).slice(1), ['nothing changed']);
});
