/**
 * A real agent books a room: it reads the page, fills in a form with three frames of three origins,
 * and submits it. Its model knows only the refs in the tools' answers.
 */
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { House } from '../e2e/support/house.js';
import { stretched } from '../support/patience.js';
import { opencode } from './support/agents.js';
import { BookingSite } from './support/booking_site.js';
import { Setting } from './support/setting.js';

const interact = (args) => ({ call: opencode.tool('interact'), args: { wait_ms: 20_000, ...args } });
const collect = { collect: opencode.tool('observe') };

describe('an agent that books a room', { timeout: stretched(180_000) }, () => {
  let house;
  let setting;
  let site;
  before(async () => {
    house = await House.open();
    site = await BookingSite.open();
    house.onClose(() => site.close());
    setting = await Setting.open(opencode, { services: house });
  });
  after(() => house?.close());

  test('fills in and submits a form in frames of three origins', () => setting.step(async () => {
    const { sessions } = setting;
    const page = await house.browser.open(`${house.pages.url}/second`);
    const id = await setting.begin();
    await setting.allows(id);
    await sessions.say(id, [
      interact({ action: 'navigate', url: site.url }), collect,
      interact({ action: 'click', selector: '<<button Book Garden>>' }), collect,
      { call: opencode.tool('analyze'), args: { what: 'page', wait_ms: 20_000 } }, collect,
      interact({
        action: 'fill',
        fields: {
          '<<textbox Name>>': 'Ada Lee', '<<date Arrival>>': '2026-12-24',
          '<<textbox Street>>': 'Main street 5', '<<combobox Country>>': 'Germany',
          '<<textbox Reference>>': 'A 1815', '<<checkbox I accept the terms>>': true,
        },
      }), collect,
      interact({ action: 'click', selector: '<<button Pay and book>>' }), collect,
      { repeat: true }]);
    const [turn] = await setting.ended(id);
    const answer = await sessions.answer(id);
    assert.equal(turn.outcome, 'completed', answer);
    assert.equal(site.bookings.length, 1, answer);
    const [{ number, ...given }] = site.bookings;
    assert.deepEqual(given, {
      room: 'Garden', name: 'Ada Lee', arrival: '2026-12-24', street: 'Main street 5',
      country: 'Germany', reference: 'A 1815', terms: true,
    });
    // The page's confirmation was in the answer to the click.
    assert.match(answer, new RegExp(`clicked e\\d+ button Pay and book.*Booked, number ${number}`, 's'));
    await page.close();
  }));

  test('books nothing if its button is not on the page', () => setting.step(async () => {
    const { sessions } = setting;
    const page = await house.browser.open(`${house.pages.url}/second`);
    const id = await setting.begin();
    await setting.allows(id);
    const booked = site.bookings.length;
    await sessions.say(id, [
      interact({ action: 'navigate', url: site.url }), collect,
      interact({ action: 'click', selector: '<<button Book Cellar>>' }), collect]);
    await setting.ended(id);
    assert.equal(await sessions.answer(id), 'I see nothing that is called button Book Cellar.');
    assert.equal(site.bookings.length, booked);
    await page.close();
  }));
});
