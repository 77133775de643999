/** A ref stands for one element and never for another, however the page changes. */
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { ExtensionSetting } from './support/extension_setting.js';
import { EyesSetting } from './support/eyes_setting.js';

const PAGES = {
  '/': '<!doctype html><title>Start</title><main><button>Save</button><a href="/other">Other</a></main>',
  '/other': '<!doctype html><title>Other</title><main><button>Save</button></main>',
  '/rows': `<!doctype html><title>Rows</title><main><table>${['Ada', 'Bob', 'Cyd'].map((name) =>
    `<tr><td>${name}</td><td><button data-who="${name}">Delete</button></td></tr>`).join('')}</table>
    <form aria-label="Login"><button type="button" data-who="go">Log in</button></form></main>`,
  '/mutating': '<!doctype html><title>Mutating</title><main id="place"></main>',
};

let setting;
before(async () => {
  setting = await EyesSetting.start((path) => PAGES[path.split('?')[0]]);
});
after(() => setting?.stop());

/** The element that an action on a ref would reach: its data-who, its text; or the error. */
function actedOn(tabId, ref) {
  return setting.attempt(async ([id, given]) => {
    const { number, documentId, instead } = await window.tools.refs.resolve({ id }, given);
    const [{ result }] = await chrome.scripting.executeScript({
      target: { tabId: id, documentIds: [documentId] },
      func: (wanted) => {
        const element = globalThis.callslip.refs.element(wanted);
        return element && { who: element.dataset.who, around: element.parentElement.textContent };
      },
      args: [number],
    });
    return { ...result, instead };
  }, [tabId, ref]);
}

const refOf = ({ text }, words) => new RegExp(`(e\\d+) ${words}`).exec(text)?.[1];

describe('refs', () => {
  test('remain valid while their element exists, whatever changes around it', async () => {
    const { page, tabId } = await setting.open('/rows');
    const first = await setting.outline(tabId);
    await page.evaluate(() => {
      const [ada, , cyd] = document.querySelectorAll('tr');
      cyd.after(ada);
      document.querySelector('main').prepend(document.createElement('input'));
    });
    const second = await setting.outline(tabId);
    const login = refOf(first, 'button Log in');
    assert.equal(refOf(second, 'button Log in'), login);
    assert.equal((await actedOn(tabId, login)).who, 'go');
    const [bob] = /Bob \| (e\d+)/.exec(first.text).slice(1);
    assert.match(second.text, new RegExp(`Bob \\| ${bob} button Delete`));
    await page.close();
  });

  test('remain valid after garbage collection', async () => {
    const { page, tabId } = await setting.open('/rows');
    const { text } = await setting.outline(tabId);
    const session = await page.context().newCDPSession(page);
    for (let time = 0; time < 3; time += 1) {
      await setting.attempt(async ([id]) => {
        await chrome.scripting.executeScript({
          target: { tabId: id },
          func: () => {
            for (let round = 0; round < 200_000; round += 1) globalThis.garbage = { round, text: [`${round}`] };
            delete globalThis.garbage;
          },
        });
      }, [tabId]);
      await session.send('HeapProfiler.collectGarbage');
      assert.equal((await setting.outline(tabId)).text, text);
    }
    await page.close();
  });

  test('resolve to a recreated element, and report its new ref', async () => {
    const { page, tabId } = await setting.open('/rows');
    const login = refOf(await setting.outline(tabId), 'button Log in');
    await page.evaluate(() => {
      const form = document.querySelector('form');
      form.innerHTML = form.innerHTML;
    });
    const { who, instead } = await actedOn(tabId, login);
    assert.equal(who, 'go');
    assert.notEqual(instead, login);
    assert.equal(refOf(await setting.outline(tabId), 'button Log in'), instead);
    await page.close();
  });

  test('never resolve to another row, even if it is the only one left', async () => {
    const { page, tabId } = await setting.open('/rows');
    const { text } = await setting.outline(tabId);
    const [, ada] = /Ada \| (e\d+)/.exec(text);
    await page.evaluate(() => {
      const [first, second] = document.querySelectorAll('tr');
      first.remove();
      second.remove();
    });
    const error = await actedOn(tabId, ada).catch((reason) => reason);
    assert.equal(error.code, 'stale_ref');
    assert.equal(error.mayHaveExecuted, false);
    const [, cyd] = /Cyd \| (e\d+)/.exec(text);
    assert.match(error.message, new RegExp(`${ada} \\(button Delete\\)`));
    assert.match(error.hint, new RegExp(`${cyd} button Delete`));
    await page.close();
  });

  const question = (what, html) => html.replaceAll('WHAT', what);
  for (const [name, html] of Object.entries({
    'a dialog': '<div role="dialog" aria-labelledby="t"><h2 id="t">WHAT?</h2><div><button>Confirm</button></div></div>',
    'a dialog without a name': '<dialog open><p>WHAT?</p><div><button>Confirm</button></div></dialog>',
    'a modal element': '<div aria-modal="true"><p>WHAT?</p><div><button>Confirm</button></div></div>',
    'a region': '<section aria-labelledby="t"><div id="t">WHAT</div><div><button>Confirm</button></div></section>',
    'a heading': '<div><h3>WHAT</h3></div><nav><button>Confirm</button></nav>',
    'text above the button': '<div><p>WHAT?</p><div><div><button>Confirm</button><button>Cancel</button></div></div></div>',
  })) {
    test(`never resolve to the same button of another question: ${name}`, async () => {
      const { page, tabId } = await setting.open('/mutating');
      const put = (text) => page.evaluate((given) => { document.querySelector('#place').innerHTML = given; }, text);
      await put(question('Delete draft', html));
      const confirm = refOf(await setting.outline(tabId), 'button Confirm');
      await put('');
      await put(question('Delete account', html));
      await assert.rejects(actedOn(tabId, confirm), ({ code, hint }) => code === 'stale_ref' && /e\d+ button Confirm/.test(hint));
      await page.close();
    });
  }

  test('never resolve to a reopened dialog or to another route of a single-page app', async () => {
    const { page, tabId } = await setting.open('/mutating');
    const put = (text) => page.evaluate((given) => { document.querySelector('#place').innerHTML = given; }, text);
    for (const [html, hash] of [['<dialog open>Delete?<button>Confirm</button></dialog>', ''], ['<p>All</p><button>Confirm</button>', '#/two']]) {
      await put(html);
      const confirm = refOf(await setting.outline(tabId), 'button Confirm');
      await put('');
      await page.evaluate((place) => { location.hash = place; }, hash);
      await put(html);
      await assert.rejects(actedOn(tabId, confirm), { code: 'stale_ref' });
    }
    await page.close();
  });

  test('are stale after a navigation, and the error suggests similar elements', async () => {
    const { page, tabId } = await setting.open('/');
    const save = refOf(await setting.outline(tabId), 'button Save');
    await page.goto(`${setting.url}/other`);
    const error = await actedOn(tabId, save).catch((reason) => reason);
    assert.equal(error.code, 'stale_ref');
    assert.match(error.hint, /e\d+ button Save/);
    await assert.rejects(actedOn(tabId, 'e9999'), { code: 'stale_ref' });
    await assert.rejects(actedOn(tabId, 'save'), { code: 'invalid_params' });
    await page.close();
  });

  test('are unique in a tab over 50 pages and 5 restarts of their counter', async () => {
    const { page, tabId } = await setting.open('/');
    const given = new Set();
    let count = 0;
    for (let visit = 0; visit < 50; visit += 1) {
      await page.goto(`${setting.url}/?${visit}`);
      if (visit % 10 === 9) await setting.wire();
      const { lines } = await setting.outline(tabId);
      for (const { refs } of lines) {
        count += refs.length;
        for (const ref of refs) given.add(ref);
      }
    }
    assert.equal(count, 100);
    assert.equal(given.size, 100);
    await page.close();
  });

  test('never refer to another element over a thousand random changes', async () => {
    const { page, tabId } = await setting.open('/mutating');
    await page.evaluate(() => {
      let seed = 7;
      const random = (below) => {
        seed = (seed * 1_103_515_245 + 12_345) % 2 ** 31;
        return Math.floor((seed / 2 ** 31) * below);
      };
      let made = 0;
      const place = document.querySelector('#place');
      const names = ['Delete', 'Edit', 'Save', 'Open'];
      const make = () => {
        made += 1;
        const item = document.createElement(random(2) ? 'li' : 'div');
        item.innerHTML = `<span>Thing ${random(4) ? made : random(3)}</span><button data-who="${made}">${names[random(4)]}</button>`;
        return item;
      };
      window.mutate = (times) => {
        for (let time = 0; time < times; time += 1) {
          const items = [...place.children];
          const item = items[random(items.length)];
          const other = items[random(items.length)] ?? null;
          const what = random(10);
          if (!item || what < 4) place.insertBefore(make(), other);
          else if (what < 6) place.insertBefore(item, other);
          else if (what < 8) item.remove();
          else item.replaceWith(item.cloneNode(true));
        }
      };
    });
    const whose = new Map();
    const around = new Map();
    let gone = 0;
    let acted = 0;
    for (let round = 0; round < 50; round += 1) {
      await page.evaluate(() => window.mutate(20));
      const refs = [...whose.keys()].filter((_, index) => index % 7 === round % 7);
      for (const ref of refs.slice(-6)) {
        const found = await actedOn(tabId, ref).catch(({ code }) => ({ code }));
        if (found.code === 'stale_ref') gone += 1;
        else {
          acted += 1;
          // A recreated element is recognized by its content, and reported under another ref.
          if (found.instead) assert.equal(found.around, around.get(ref));
          else assert.equal(found.who, whose.get(ref));
        }
      }
      await setting.outline(tabId);
      const known = await setting.attempt(async ([id]) => {
        const [{ result }] = await chrome.scripting.executeScript({
          target: { tabId: id },
          func: () => [...document.querySelectorAll('button')]
            .map((each) => [
              `e${globalThis.callslip.refs.of(each)}`, each.dataset.who, each.parentElement.textContent,
            ]),
        });
        return result;
      }, [tabId]);
      for (const [ref, who, text] of known) {
        around.set(ref, text);
        assert.notEqual(ref, 'e0');
        assert.equal(whose.get(ref) ?? who, who);
        whose.set(ref, who);
      }
    }
    assert.ok(acted > 20 && gone > 20);
    await page.close();
  });
});

describe('refs over five restarts of the service worker', () => {
  test('remain valid, and their numbers are not reused', async () => {
    const own = await ExtensionSetting.start();
    try {
      const { page, tabId } = await own.open('/');
      const look = async () => {
        const { page: text } = await own.perform({ action: 'page', tab_id: tabId });
        return [...text.matchAll(/^ *(e\d+) ([a-z]+ ?\S*)/gm)].map(([, ref, words]) => ({ ref, words }));
      };
      const given = new Map();
      for (let restart = 0; restart < 5; restart += 1) {
        const before = await look();
        await own.browser.restartWorker(page);
        assert.deepEqual(await look(), before);
        for (const { ref, words } of before) {
          assert.equal(given.has(ref), false, `${ref} ${words}`);
          given.set(ref, words);
        }
        const [{ ref }] = before.filter(({ words }) => words.startsWith('button Go'));
        await own.perform({ action: 'click', selector: ref, tab_id: tabId });
        assert.equal(await page.evaluate(() => document.querySelector('#go').dataset.clicks), '1');
        await page.reload();
        await own.refused({ action: 'click', selector: ref, tab_id: tabId }, 'stale_ref');
      }
      assert.ok(given.size >= 30);
    } finally {
      await own.stop();
    }
  });
});
