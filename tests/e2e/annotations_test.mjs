/**
 * A person's drawings for agents, with all parts real: official MCP client, bridge, gateway,
 * tracker, extension, Chromium, and a mouse.
 */
import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import { after, afterEach, before, beforeEach, describe, test } from 'node:test';
import { artifact } from './support/artifacts.js';
import { House } from './support/house.js';
import { Overlay } from './support/overlay.js';

/** The area of /shop that the tests draw around: the card with the button. */
const CARD = { from: { x: 12, y: 150 }, to: { x: 364, y: 270 } };

let house;
let page;
let overlay;

before(async () => {
  house = await House.open();
});
after(() => house?.close());

beforeEach(async () => {
  page = await house.browser.open(`${house.pages.url}/shop`);
  overlay = await Overlay.of(page);
});
afterEach(async () => { await page?.close(); });

const check = (name, work) => test(name, () => house.step(work));

/** Asks for a drawing that a person has yet to make; returns the id of the request. */
async function ask(agent, message) {
  const answer = await agent.call('analyze', { what: 'annotations', wait: true, message });
  const { status, final, correlation_id: id } = answer.structuredContent;
  assert.deepEqual([status, final], ['waiting_for_user', false], JSON.stringify(answer));
  assert.match(id, /^ann_\d+_[0-9a-f]{32}$/);
  return id;
}

/** Marks the card with a note and leaves with Done. */
async function draw(note, picture) {
  await overlay.drag(CARD.from, CARD.to);
  await overlay.note(note);
  if (picture) await page.screenshot({ path: artifact(`${picture}.png`) });
  await overlay.press(/^Done/);
  await overlay.gone();
}

function assertPng(base64) {
  const bytes = Buffer.from(base64, 'base64');
  assert.equal(bytes.subarray(1, 4).toString(), 'PNG');
  return bytes;
}

/** Checks an agent's answer with the drawing; resolves to its picture. */
async function assertDrawn(answer, note) {
  const { status, final, result } = answer.structuredContent;
  assert.deepEqual([status, final], ['complete', true], JSON.stringify(answer.structuredContent));
  assert.equal(result.url, `${house.pages.url}/shop`);
  assert.equal(result.title, 'Shop');
  const [mark, ...more] = result.annotations;
  assert.equal(more.length, 0);
  assert.equal(mark.kind, 'rectangle');
  assert.equal(mark.note, note);
  assert.deepEqual(mark.rect, { x: 12, y: 150, width: 352, height: 120 });
  assert.equal(mark.element.selector, 'div.card > h2');
  assert.equal(await page.textContent(mark.element.selector), mark.element.text);
  const [text, image] = answer.content;
  assert.ok(text.text.includes(`1. rectangle: ${note} (div.card > h2 "Chair")`), text.text);
  assert.equal(image.type, 'image');
  assert.equal(image.mimeType, 'image/png');
  return assertPng(image.data);
}

check('one drawing answers two agents that wait for it', async () => {
  const agents = [await house.agentOverHttp(), await house.agentOverBridge()];
  const ids = [await ask(agents[0], 'Mark what is wrong.')];
  await overlay.shown();
  assert.ok((await overlay.texts()).includes('Mark what is wrong.'));
  ids.push(await ask(agents[1], 'I would like to know as well.'));
  await overlay.says('I would like to know as well.');
  const held = agents.map((agent, index) =>
    agent.call('observe', { what: 'command_result', correlation_id: ids[index] }));

  await draw('Make this wider', 'annotations');
  for (const [index, answer] of (await Promise.all(held)).entries()) {
    const { correlation_id: id, resource } = answer.structuredContent;
    assert.equal(id, ids[index]);
    const picture = await assertDrawn(answer, 'Make this wider');
    await writeFile(artifact('annotations_as_seen_by_agent.png'), picture);
    // The picture of the mark alone is in the whole result.
    const { contents: [whole] } = await agents[index].client.readResource({ uri: resource });
    assertPng(JSON.parse(whole.text).annotations[0].crop.base64);
  }
});

describe('an unrequested drawing', () => {
  /** The ways in which a person starts a drawing. */
  const starts = {
    'from the popup': async () => {
      const opened = house.browser.context.waitForEvent('page');
      const create = () => chrome.windows.create({ url: 'popup.html', type: 'popup' });
      await house.browser.currentWorker().evaluate(create);
      const popup = await opened;
      const closed = popup.waitForEvent('close');
      await popup.getByRole('button', { name: 'Draw on this page' }).click();
      await closed;
    },
    'from the keyboard': () => house.browser.currentWorker().evaluate(async (url) => {
      const [tab] = await chrome.tabs.query({ active: true, url });
      chrome.commands.onCommand.dispatch('draw_mode', tab);
    }, page.url()),
  };

  for (const [way, start] of Object.entries(starts)) {
    check(`is delivered to the next agent that asks when started ${way}`, async () => {
      await start();
      await overlay.shown();
      await draw(`Drawn ${way}`);
      await house.browser.untilDelivered();
      const agent = await house.agentOverHttp();
      const question = { what: 'annotations', wait: true };
      await assertDrawn(await agent.call('analyze', question), `Drawn ${way}`);
    });
  }
});
