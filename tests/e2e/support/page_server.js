import { createServer } from 'node:http';
import { once } from 'node:events';

const PAGES = {
  '/': {
    body: `<!doctype html><title>Test page</title>
      <h1>Hello from the test page</h1>
      <button id="go" onclick="this.dataset.clicks = Number(this.dataset.clicks ?? 0) + 1">
        Go</button>
      <button id="off" disabled>Off</button>
      <a id="link" href="/second">Second page</a>
      <input id="name" value="old">
      <textarea id="notes"></textarea>
      <div id="editor" contenteditable>draft</div>
      <div id="plain">plain</div>
      <div style="height: 3000px"></div>
      <button id="below">Below the fold</button>
      <script>
        window.heard = [];
        for (const type of ['mousedown', 'mouseup', 'click', 'input', 'change']) {
          document.addEventListener(type, (event) => heard.push(type + ' ' + event.target.id));
        }
        // The way frameworks watch a field: an own property hides the browser's setter.
        const field = document.querySelector('#name');
        const { get, set } = Object.getOwnPropertyDescriptor(HTMLInputElement.prototype, 'value');
        let tracked = field.value;
        Object.defineProperty(field, 'value', {
          get() { return get.call(this); },
          set(value) { tracked = value; set.call(this, value); },
        });
        field.addEventListener('input', () => {
          if (get.call(field) !== tracked) heard.push('noticed ' + get.call(field));
        });
      </script>`,
  },
  '/second': { body: '<!doctype html><title>Second page</title><p>You have arrived.</p>' },
  '/strict': {
    body: '<!doctype html><title>Strict page</title><button id="go">Go</button>',
    headers: { 'Content-Security-Policy': "script-src 'self'" },
  },
  '/trusted-types': {
    body: '<!doctype html><title>Trusted types page</title>',
    headers: { 'Content-Security-Policy': "require-trusted-types-for 'script'" },
  },
  '/long': { body: `<!doctype html><title>Long page</title><p>${'word '.repeat(30_000)}</p>` },
};

/** Serves the pages that the tests act on, from loopback. Any query string is ignored. */
export async function startPageServer() {
  const server = createServer((request, response) => {
    const page = PAGES[new URL(request.url, 'http://page').pathname];
    if (!page) return response.writeHead(404).end();
    const headers = { 'Content-Type': 'text/html; charset=utf-8', ...page.headers };
    response.writeHead(200, headers).end(page.body);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${server.address().port}`,
    async stop() {
      const closed = once(server, 'close');
      server.close();
      server.closeAllConnections();
      await closed;
    },
  };
}
