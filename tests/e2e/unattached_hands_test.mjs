/**
 * The hands in a Chromium without an attached debugger: a background tab gets the same events and
 * shows the same result as a tab in front.
 */
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { REBOUND_NAME } from './support/chromium.js';
import { UnattachedSetting } from './support/unattached_browser.js';

const FORM = `<!doctype html><title>Form</title>
  <input id="name" value="old"><input id="day"><p id="calendar" hidden>Calendar</p><p id="bad" hidden>Too short</p>
  <div id="editor" contenteditable>draft</div><textarea id="notes"></textarea>
  <input id="tick" type="checkbox"><input id="range" type="range"><button id="go">Go</button>
  <ul id="list"><li id="one" draggable="true">One</li><li id="two">Two</li></ul><p id="dropped"></p>
  <script>
    window.heard = [];
    for (const type of ['focusin', 'focusout', 'input', 'change', 'keydown', 'mousedown', 'click']) {
      document.addEventListener(type, (event) => heard.push(type + ' ' + event.target.id));
    }
    day.addEventListener('focus', () => { calendar.hidden = false; });
    document.querySelector('#name').addEventListener('blur', ({ target }) => { bad.hidden = target.value.length > 2; });
    one.addEventListener('dragstart', ({ dataTransfer }) => dataTransfer.setData('text/plain', 'One'));
    two.addEventListener('dragover', (event) => event.preventDefault());
    two.addEventListener('drop', ({ dataTransfer }) => { dropped.textContent = dataTransfer.getData('text/plain'); });
  </script>`;

const LISTENING = `<script>
  window.heard = [];
  for (const type of ['focusin', 'focusout', 'keydown', 'keyup', 'change']) {
    addEventListener(type, ({ target, key = '' }) => heard.push(type + ' ' + target.id + ' ' + key), true);
  }
</script>`;
const framed = (host) => `<!doctype html>${LISTENING}<input id="a"><script>
  document.write('<iframe src="http://${host}:' + location.port + '/inner"></iframe>')</script><input id="z">`;
const INNER = `<!doctype html>${LISTENING}<input id="i"><script>
  addEventListener('message', ({ source }) => source.postMessage([heard, i.value], '*'));</script>`;

let setting;

before(async () => {
  setting = await UnattachedSetting.start({
    '/hands': { body: FORM }, '/framed': { body: framed('127.0.0.1') }, '/across': { body: framed(REBOUND_NAME) },
    '/inner': { body: INNER },
  });
});
after(() => setting?.stop());

/** Does the same in a tab, and returns the outcome. */
async function useIn(background) {
  const tab = await setting.open('/hands', { background });
  const act = (params) => setting.perform({ tab_id: tab, ...params });
  const script = (text) => act({ action: 'execute_js', script: text });
  assert.equal(await script('document.hidden'), background);
  await act({ action: 'fill', fields: { '#name': 'Al', '#notes': 'some notes', '#editor': 'final', '#tick': true, '#range': 70 } });
  await act({ action: 'click', selector: '#day' });
  await act({ action: 'type', text: 'ab' });
  await act({ action: 'press', key: 'Backspace Shift+Tab' });
  await act({ action: 'type', selector: '#notes', text: '!' });
  await act({ action: 'press', selector: '#notes', key: 'Home Shift+ArrowRight*4 Control+X End Control+V*2' });
  await act({ action: 'click', selector: '#go' });
  await act({ action: 'drag', selector: '#one', to: '#two' });
  return script(`({
    values: [...document.querySelectorAll('input, textarea')].map(({ value, checked }) => [value, checked ?? null]),
    editor: editor.textContent, calendar: calendar.hidden, bad: bad.hidden, dropped: dropped.textContent,
    heard: heard.filter((each, at) => !each.startsWith('change') || heard.indexOf(each) === at),
  })`);
}

describe('a background tab', () => {
  test('gets the same events and shows the same result as one in front', async () => {
    const inFront = await useIn(false);
    assert.deepEqual(inFront.values.map(([value]) => value), ['Al', 'a', ' notes!somesome', 'on', '70']);
    assert.deepEqual([inFront.editor, inFront.calendar, inFront.bad, inFront.dropped], ['final', false, false, 'One']);
    assert.deepEqual(await useIn(true), inFront);
  });

  for (const path of ['/framed', '/across']) {
    test(`moves the focus through its frames like one in front: ${path}`, async () => {
      const heard = [];
      for (const background of [false, true]) {
        const tab_id = await setting.open(path, { background });
        await setting.perform({ tab_id, action: 'press', selector: '#a', key: '1 Tab 2 Tab 3 Shift+Tab*2' });
        await setting.perform({ tab_id, action: 'type', text: '4' });
        heard.push(await setting.perform({ tab_id, action: 'execute_js', script: `new Promise((resolve) => {
          onmessage = ({ data }) => resolve([heard, a.value, z.value, ...data]);
          frames[0].postMessage('', '*');
        })` }));
      }
      const [[, first, last, , inner]] = heard;
      assert.deepEqual([first, inner, last], ['4', '2', '3']);
      assert.deepEqual(heard[1], heard[0]);
    });
  }
});
