/** Elements in frames and in shadow trees are in the outline, and refs lead to them. */
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { serve } from './support/eyes_pages.js';
import { EyesSetting } from './support/eyes_setting.js';

const KINDS = `<!doctype html><title>Kinds</title><main><button>Outside</button>
  <iframe title="srcdoc" srcdoc="<button>In srcdoc</button>"></iframe>
  <iframe title="sandboxed" sandbox src="/in?sandboxed"></iframe>
  <iframe title="scripted sandbox" sandbox="allow-scripts" srcdoc="<button>In sandboxed srcdoc</button>"></iframe>
  <iframe title="data" src="data:text/html,<button>In data</button>"></iframe>
  <iframe title="blob" id="blob"></iframe>
  <object data="/in?object" type="text/html" width="200" height="80" title="object"></object>
  <embed src="/in?embed" type="text/html" width="200" height="80" title="embed">
  <iframe title="blank" id="blank"></iframe>
  <iframe title="hidden" style="display:none" src="/in?hidden"></iframe>
  <div id="host"></div></main><script>
  document.querySelector('#blob').src = URL.createObjectURL(new Blob(['<button>In blob</button>'], { type: 'text/html' }));
  document.querySelector('#blank').contentDocument.body.innerHTML = '<button>In blank</button>';
  const root = document.querySelector('#host').attachShadow({ mode: 'closed' });
  root.innerHTML = '<iframe title="shadow one" src="/in?shadow-one"></iframe><iframe title="shadow two" src="/in?shadow-two"></iframe>';
  </script>`;

const inner = (path) => `<!doctype html><button>In ${path.split('?')[1]}</button>`;

let setting;
before(async () => {
  setting = await EyesSetting.start((path) => {
    if (path === '/kinds') return KINDS;
    return path.startsWith('/in?') ? inner(path) : serve(path, setting.otherUrl);
  });
});
after(() => setting?.stop());

/** Opens a page, and waits until each of the words is in its outline. */
async function look(path, words) {
  const { page, tabId } = await setting.open(path);
  let seen = await setting.outline(tabId);
  for (let time = 0; time < 50 && !words.every((each) => seen.text.includes(each)); time += 1) {
    seen = await setting.outline(tabId);
  }
  return { page, tabId, ...seen };
}

/** The element of a ref: its text, and the address of its document. */
function behind(tabId, ref) {
  return setting.attempt(async ([id, given]) => {
    const { number, documentId, frameId } = await window.tools.refs.resolve({ id }, given);
    const [{ result }] = await chrome.scripting.executeScript({
      target: { tabId: id, documentIds: [documentId] },
      func: (wanted) => {
        const element = globalThis.callslip.refs.element(wanted);
        return (element.labels?.[0] ?? element).textContent.trim() || element.getAttribute('aria-label');
      },
      args: [number],
    });
    return { words: result, frameId };
  }, [tabId, ref]);
}

describe('frames', () => {
  test('the outline has a ref for each control in frames of two sites, three deep', async () => {
    const names = ['Outer button', 'Inner field', 'Inner button', 'Inner link', 'Card number', 'Holder', 'Pay',
      'Keep the card', 'Deepest button'];
    const { page, tabId, text, lines } = await look('/frames', names);
    const framesSeen = new Set();
    for (const name of names) {
      const [, ref] = new RegExp(`(e\\d+) [a-z]+ ${name}$`, 'm').exec(text) ?? [];
      assert.ok(ref, `${name} in\n${text}`);
      const { words, frameId } = await behind(tabId, ref);
      assert.equal(words, name);
      framesSeen.add(frameId);
    }
    assert.equal(framesSeen.size, 4);
    assert.match(text, /\n e\d+ iframe Other site \(rebound\.test:\d+\)\n {2}e\d+ textbox Card number\n/);
    assert.match(text, /\n {2}e\d+ iframe Deepest\n {3}e\d+ button Deepest button$/);
    assert.ok(lines.every(({ frameId, documentId }) => frameId !== undefined && documentId));
    await page.close();
  });

  test('the outline has each kind of frame at the place of its element', async () => {
    const kinds = ['srcdoc', 'sandboxed', 'sandboxed srcdoc', 'data', 'blob', 'object', 'embed', 'blank',
      'shadow-one', 'shadow-two'];
    const { page, tabId, text } = await look('/kinds', kinds.map((kind) => `In ${kind}`));
    const order = [...text.matchAll(/button In (.*)/g)].map(([, kind]) => kind);
    assert.deepEqual(order, kinds, text);
    for (const [, ref, kind] of text.matchAll(/(e\d+) button (In .*)/g)) {
      assert.equal((await behind(tabId, ref)).words, kind);
    }
    await page.close();
  });

  test('a ref into a removed frame is stale', async () => {
    const { page, tabId, text } = await look('/frames', ['Card number', 'Deepest']);
    const [, ref] = /(e\d+) textbox Card number/.exec(text);
    await page.evaluate(() => document.querySelectorAll('iframe')[1].remove());
    await assert.rejects(behind(tabId, ref), { code: 'stale_ref', mayHaveExecuted: false });
    assert.doesNotMatch((await setting.outline(tabId)).text, /Card number|Deepest/);
    await page.close();
  });
});

describe('shadow trees', () => {
  test('the outline has a ref for each control in open and closed trees, with slots', async () => {
    const names = ['Light link', 'Slotted', 'In the card', 'Open field', 'Open list', 'Closed button', 'Closed field',
      'Item link'];
    const { page, tabId, text } = await look('/components', names);
    const order = [...text.matchAll(/(e\d+) (?:[a-z]+) (.*?)(?: =.*)?$/gm)].map(([, ref, name]) => ({ ref, name }));
    assert.deepEqual(order.map(({ name }) => name), names, text);
    for (const { ref, name } of order) assert.equal((await behind(tabId, ref)).words.replace(/OneTwo$/, 'Open list'), name);
    // A selector reaches into closed shadow trees, too.
    const { text: closed } = await setting.outline(tabId, { selector: 'x-closed button' });
    assert.match(closed, /lines\ne\d+ button Closed button$/);
    await page.close();
  });
});
