import { createServer } from 'node:http';
import { once } from 'node:events';
import { REBOUND_NAME } from '../../e2e/support/chromium.js';

const page = (title, body) => `<!doctype html><html lang="en"><meta charset="utf-8"><title>${title}</title>${body}`;

/** Reports every change of a field to the page around this frame, of whatever origin. */
const TELLS = `<script>
  addEventListener('input', ({ target }) => {
    const value = target.type === 'checkbox' ? target.checked : target.value;
    parent.postMessage({ [target.name]: value }, '*');
  });
</script>`;

const GUEST = page('Guest', `<label>Name <input name="name"></label>
  <label>Arrival <input name="arrival" type="date"></label>${TELLS}`);

const ADDRESS = page('Address', `<label>Street <input name="street"></label>
  <label>Country <select name="country"><option>Choose…<option>Austria<option>Germany</select></label>
  ${TELLS}`);

const PAYMENT = page('Payment', `<label>Reference <input name="reference"></label>
  <label><input name="terms" type="checkbox"> I accept the terms</label>
  <button onclick="parent.postMessage('send', '*')">Pay and book</button>${TELLS}`);

/** The frames appear only after a room was chosen. */
const rooms = ({ guest, address, payment }) => page('Rooms', `<main><h1>Rooms</h1>
  <ul><li>Garden, 90.00 <button>Book Garden</button></li>
    <li>Attic, 70.00 <button>Book Attic</button></li></ul>
  <div id="form"></div><p role="status"></p></main>
  <script>
    const given = {};
    const status = document.querySelector('[role=status]');
    document.querySelector('ul').onclick = ({ target }) => {
      given.room = target.textContent.replace('Book ', '');
      document.querySelector('#form').innerHTML = '<h2>Booking of ' + given.room + '</h2>'
        + '<iframe title="Guest" src="${guest}"></iframe>'
        + '<iframe title="Address" src="${address}"></iframe>'
        + '<iframe title="Payment" src="${payment}"></iframe>';
    };
    addEventListener('message', async ({ data }) => {
      if (data !== 'send') return Object.assign(given, data);
      const answer = await fetch('/bookings', { method: 'POST', body: JSON.stringify(given) });
      status.textContent = await answer.text();
    });
  </script>`);

/**
 * A site to book rooms with a form in three frames of three origins, two of them other than the
 * page's: `bookings` has the received forms, and each is answered with a random number.
 */
export class BookingSite {
  bookings = [];
  #servers = [];

  static async open() {
    const site = new this();
    const other = await site.#serve(REBOUND_NAME, { '/address': ADDRESS });
    const bank = await site.#serve('127.0.0.1', { '/payment': PAYMENT });
    const frames = { guest: '/guest', address: `${other}/address`, payment: `${bank}/payment` };
    site.url = await site.#serve('127.0.0.1', { '/': rooms(frames), '/guest': GUEST });
    return site;
  }

  async #serve(host, pages) {
    const server = createServer((request, response) => {
      this.#answer(pages, request, response).catch(() => response.destroy());
    }).listen(0, '127.0.0.1');
    await once(server, 'listening');
    this.#servers.push(server);
    return `http://${host}:${server.address().port}`;
  }

  async #answer(pages, request, response) {
    if (request.method === 'POST' && request.url === '/bookings') {
      const given = JSON.parse(Buffer.concat(await request.toArray()).toString());
      const number = Math.random().toString(36).slice(2, 10).toUpperCase();
      this.bookings.push({ ...given, number });
      return response.end(`Booked, number ${number}`);
    }
    const body = pages[request.url];
    return response.writeHead(body ? 200 : 404, { 'Content-Type': 'text/html; charset=utf-8' }).end(body);
  }

  async close() {
    for (const server of this.#servers) {
      server.close();
      server.closeAllConnections();
    }
  }
}
