/**
 * Pages made to be expensive to read: an outline costs at most a few times the size of their
 * content. Counts the reads, since the time depends on the machine.
 */
import assert from 'node:assert/strict';
import { readdir, readFile } from 'node:fs/promises';
import { after, before, describe, test } from 'node:test';
import { ExtensionSetting } from './support/extension_setting.js';
import { EyesSetting } from './support/eyes_setting.js';

const LINKS = 20_000;
const MILLION = 'word '.repeat(200_000);
const range = (count, make) => Array.from({ length: count }, (_, at) => make(at)).join('');
const links = (attributes = '', count = LINKS) => range(count, (at) => `<a href="/${at}" ${attributes}>Link ${at}</a> `);
const nested = (count, tag, inside) => `${`<${tag}>`.repeat(count)}${inside}${`</${tag.split(' ')[0]}>`.repeat(count)}`;
const page = (body) => `<!doctype html><title>Hostile</title>${body}`;

const PAGES = {
  text: page(`<p>${MILLION}</p><p>${links()}</p>`),
  around: page(`<div>${MILLION}${nested(300, 'div', links())}</div>`),
  label: page(`<p id="all">${MILLION}</p>${links('aria-labelledby="all"')}`),
  attribute: page(`<p id="all" aria-label="${MILLION}"></p>${links('aria-labelledby="all"')}`),
  value: page(`<textarea id="all">${MILLION}</textarea><p id="both"><label for="all">A</label><input aria-label="x"></p>
    ${links('aria-labelledby="all both"')}`),
  buttons: page(nested(600, 'div role=button', MILLION) + links()),
  clicks: page(nested(600, 'div onclick=1', MILLION) + links()),
  headings: page(nested(600, 'div role=heading', MILLION) + links()),
  rows: page(`<div role="table">${nested(600, 'div role=row', MILLION)}</div>${links()}`),
  places: page(nested(300, `section aria-label='${'region '.repeat(28)}'`, links())),
  labels: page(range(24, (at) => `<label for="box${at}">`) + range(24, (at) => `<input type="checkbox" id="box${at}">`)
    + '</label>'.repeat(24) + links()),
  options: page(`<select id="all">${range(LINKS, (at) => `<option>Option ${at}</option>`)}</select>${links('aria-labelledby="all"')}`),
  details: page(`<details>${links()}</details>${links()}`),
  base: page(`<base href="http://127.0.0.1/${'long'.repeat(25_000)}/">${links('', 1_000).replaceAll('href="/', 'href="')}`),
  line: page(`<h1>${links()}</h1><table><tr><td>${range(LINKS, () => '<input><button></button>')}</td></tr></table>
    <p><a href="/first">First</a>${MILLION}<a href="/last">Last</a></p><ul><li><div role="slider" aria-valuenow="1"
    aria-valuemin="${MILLION}" aria-valuemax="0"></div></ul>`),
  selected: page(`<select multiple>${range(LINKS, (at) => `<option selected>Option ${at}</option>`)}</select>`),
};

let setting;
before(async () => {
  setting = await EyesSetting.start((path) => PAGES[path.slice(1)]);
});
after(() => setting?.stop());

async function lookAt(name, work) {
  const { page: shown, tabId } = await setting.open(`/${name}`);
  try {
    return await work(tabId, shown);
  } finally {
    await shown.close();
  }
}

/** Reads the outline in the extension's world, and counts the reads: `{chars, calls, lines}`. */
function counted(tabId, options = {}) {
  return setting.attempt(async ([id, given]) => {
    await window.tools.pageParts.install(id);
    const [{ result }] = await chrome.scripting.executeScript({
      target: { tabId: id },
      func: async (how) => {
        const read = { chars: 0, calls: 0 };
        const watch = (type, name, kind) => {
          const own = Object.getOwnPropertyDescriptor(type, name);
          Object.defineProperty(type, name, { ...own, [kind](...args) {
            const answer = Reflect.apply(own[kind], this, args);
            read.calls += 1;
            if (typeof answer === 'string') read.chars += answer.length;
            return answer;
          } });
          return () => Object.defineProperty(type, name, own);
        };
        // The cost of a text is in the strings made of it: slices are cheap, cleaned copies are
        // not.
        const restore = [
          watch(Node.prototype, 'textContent', 'get'), watch(HTMLElement.prototype, 'innerText', 'get'),
          watch(HTMLAnchorElement.prototype, 'href', 'get'), watch(Array.prototype, 'join', 'value'),
          watch(String.prototype, 'trim', 'value'), watch(String.prototype, 'replace', 'value'),
          watch(WeakRef.prototype, 'deref', 'value'), watch(window, 'getComputedStyle', 'value'),
          watch(HTMLOptionElement.prototype, 'text', 'get'), watch(Element.prototype, 'querySelector', 'value'),
        ];
        try {
          const { lines, needs } = await globalThis.callslip.outline.look(how);
          return { ...read, needs, longest: Math.max(...JSON.parse(lines).map(({ text }) => text.length)) };
        } finally {
          for (const undo of restore) undo();
        }
      },
      args: [given],
    });
    return result;
  }, [tabId, options]);
}

for (const name of Object.keys(PAGES)) {
  test(`an outline of the hostile page ${name} reads its content at most a few times`, (context) => lookAt(name, async (tabId) => {
    const view = name === 'base' ? 'urls' : 'all';
    const { chars, calls, longest, needs } = await counted(tabId, { view });
    context.diagnostic(`${needs} refs, ${chars} units, ${calls} calls, longest line ${longest}`);
    assert.ok(chars <= 60_000_000, `${chars} units read`);
    assert.ok(calls <= 1_000_000, `${calls} calls`);
    assert.ok(longest <= 20_000, `a line of ${longest}`);
  }));
}

test('assigning a ref does not scan all existing refs', () => lookAt('text', async (tabId, shown) => {
  await shown.evaluate(() => { document.body.innerHTML = '<p><a href="/x">x</a></p>'.repeat(50_000); });
  const derefs = await setting.attempt(async ([id]) => {
    await window.tools.pageParts.install(id);
    const [{ result }] = await chrome.scripting.executeScript({
      target: { tabId: id },
      func: () => {
        const own = WeakRef.prototype.deref;
        let calls = 0;
        WeakRef.prototype.deref = function deref() {
          calls += 1;
          // Stops an endless loop.
          if (calls > 5_000_000) throw new Error('too many');
          return own.call(this);
        };
        let number = 1;
        try {
          for (const each of document.links) globalThis.callslip.refs.give(each, number++);
        } catch (error) {
          // The number of calls reports an endless loop.
          if (calls <= 5_000_000) throw error;
        }
        WeakRef.prototype.deref = own;
        return calls;
      },
    });
    return result;
  }, [tabId]);
  assert.ok(derefs <= 200_000, `${derefs}`);
}));

test('an outline of many selector matches does not repeat work for each match', () => lookAt('around', async (tabId, shown) => {
  await shown.evaluate(() => { document.body.innerHTML = '<p><a href="/x">x</a></p>'.repeat(20_000); });
  const ups = await setting.attempt(async ([id]) => {
    await window.tools.pageParts.install(id);
    const [{ result }] = await chrome.scripting.executeScript({
      target: { tabId: id },
      func: async () => {
        const own = globalThis.callslip.shadow.parentOf;
        let calls = 0;
        const { contains } = globalThis.callslip.shadow;
        Object.assign(globalThis.callslip.shadow, {
          parentOf: (node) => { calls += 1; return own(node); },
          contains: (...args) => {
            calls += 1;
            if (calls > 2_000_000) throw new Error('too many');
            return contains(...args);
          },
        });
        await globalThis.callslip.outline.look({ selector: 'a' });
        return calls;
      },
    });
    return result;
  }, [tabId]);
  assert.ok(ups <= 500_000, `${ups}`);
}));

test('an outline with too many lines shows that the rest is omitted', () => lookAt('text', async (tabId, shown) => {
  await shown.evaluate(() => { document.body.innerHTML = '<p>Text</p>'.repeat(50_010); });
  const [length, last] = await setting.attempt(async ([id]) => {
    const { lines } = await window.tools.outline({ id });
    return [lines.length, lines.at(-1).text];
  }, [tabId]);
  assert.equal(length, 50_001);
  assert.equal(last, '… more than 50000 lines: the rest of this page is not told');
}));

test('an outline needs no more refs than it can have lines', () => lookAt('text', async (tabId, shown) => {
  await shown.evaluate(() => { document.body.innerHTML = `<div>${'<button>B</button>'.repeat(60_000)}</div>`; });
  const { needs } = await counted(tabId);
  assert.ok(needs <= 50_001, `${needs}`);
}));

test('a slider value with a newline stays one line', () => lookAt('text', async (tabId, shown) => {
  await shown.evaluate(() => {
    document.body.innerHTML = '<div role="slider" aria-label="V" aria-valuenow="1" aria-valuemax="9"></div>';
    document.querySelector('div').setAttribute('aria-valuemin', '0\nnothing changed');
  });
  const { text } = await setting.outline(tabId);
  assert.deepEqual(text.split('\n').slice(1), ['e1 slider V = 1 of 0 nothing changed–9']);
}));

describe('page elements with the names of the extension globals', () => {
  const KINDS = {
    divs: (name) => `<div id="${name}"></div>`,
    frames: (name) => `<iframe name="${name}" src="data:text/html,x"></iframe>`,
    forms: (name) => `<form name="${name}"><input name="version"><input name="board"></form>`,
  };
  const body = '<p>Here</p><button id="go" onclick="this.textContent = \'Gone\'">Go</button><input type="password" id="secret" value="hush">';

  async function namesOfOurs() {
    const root = new URL('../../extension/src/', import.meta.url);
    const files = (await readdir(root, { recursive: true })).filter((file) => file.endsWith('.js'));
    const texts = await Promise.all(files.map((file) => readFile(new URL(file, root), 'utf8')));
    return [...new Set(texts.join('\n').match(/\bcallslip\w*/g))];
  }

  let own;
  before(async () => {
    const names = await namesOfOurs();
    for (const name of ['callslip', 'callslipCutText', 'callslipDraw']) assert.ok(names.includes(name), name);
    own = await ExtensionSetting.start(Object.fromEntries(Object.entries(KINDS).map(([kind, element]) =>
      [`/${kind}`, { body: page(names.map(element).join('') + body) }])));
  });
  after(() => own?.stop());

  for (const kind of Object.keys(KINDS)) {
    test(`do not affect commands when they are ${kind}`, async () => {
      const { page: shown, tabId } = await own.open(`/${kind}`);
      const perform = (params) => own.perform({ ...params, tab_id: tabId });
      assert.match((await perform({ action: 'get_page' })).text, /^Here/);
      assert.equal((await perform({ action: 'query', selector: '#go' })).count, 1);
      assert.match((await perform({ action: 'page' })).page, /button Go/);
      await perform({ action: 'click', selector: '#go' });
      assert.match((await perform({ action: 'page' })).page, /button Gone/);
      // The page's world remembers an earlier password field for every later action.
      assert.doesNotMatch((await perform({ action: 'page' })).page, /hush/);
      await shown.evaluate(() => { document.querySelector('#secret').type = 'text'; });
      const { elements } = await perform({ action: 'query', selector: '#secret' });
      assert.doesNotMatch(JSON.stringify(elements), /hush/);
      for (const more of [{ full_page: true }, { selector: '#go' }]) {
        assert.ok((await perform({ action: 'screenshot', ...more })).base64.length > 100);
      }
      assert.equal((await perform({ action: 'draw_mode' })).started, true);
      assert.equal((await perform({ action: 'draw_mode' })).already, true);
      await shown.close();
    });
  }
});
