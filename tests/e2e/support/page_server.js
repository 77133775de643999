import { createServer } from 'node:http';
import { once } from 'node:events';

/** A document of one page that says something. */
function pdf(text) {
  const content = `BT /F 18 Tf 20 100 Td (${text}) Tj ET`;
  const objects = [
    '<</Type/Catalog/Pages 2 0 R>>',
    '<</Type/Pages/Kids[3 0 R]/Count 1>>',
    '<</Type/Page/Parent 2 0 R/MediaBox[0 0 300 200]/Contents 4 0 R/Resources<</Font<</F 5 0 R>>>>>>',
    `<</Length ${content.length}>>stream\n${content}\nendstream`,
    '<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>',
  ];
  return `%PDF-1.4\n${objects.map((each, at) => `${at + 1} 0 obj${each}endobj\n`).join('')}trailer<</Size 6/Root 1 0 R>>\n%%EOF`;
}

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
  '/framed': {
    body: `<!doctype html><title>Framed page</title><style>body { margin: 0 } iframe { border: 10px solid #ccc;
      padding: 5px; margin: 40px 0 0 30px; width: 400px; height: 300px }</style><button>Outside</button>
      <iframe srcdoc="<style>body { margin: 0 } div { margin: 500px 0 900px 20px; width: 100px; height: 60px;
      background: #00c800 }</style><div id=green></div><button>Inside</button>"></iframe>`,
  },
  '/shop': {
    body: `<!doctype html><title>Shop</title><style>
      body { margin: 0; font: 16px sans-serif; height: 3000px }
      header { position: fixed; top: 0; width: 100%; padding: 20px; background: #134; color: #fff }
      main { padding: 90px 20px }
      .card { width: 300px; padding: 16px; border: 1px solid #bbb; border-radius: 8px }
      .card h2 { margin: 0 0 12px } .far { position: absolute; top: 2500px }
      </style>
      <header>Shop header</header>
      <main><h1>Our products</h1>
      <div class="card"><h2>Chair</h2><button data-testid="buy">Buy now</button></div>
      <p class="far">Far below</p></main>`,
    headers: { 'Content-Security-Policy': "default-src 'none'; style-src 'unsafe-inline'" },
  },
  '/app': {
    body: `<!doctype html><title>App</title><style>
      * { display: block !important; pointer-events: auto !important; color: green }
      html, body { margin: 0; height: 100%; overflow: hidden }
      head, title, style, script { display: none !important }
      #pane { height: 100vh; overflow: auto; scroll-behavior: smooth }
      #tall { height: 3000px; padding-top: 300px }
      dialog:not([open]) { display: none !important }
      </style>
      <div id="pane"><div id="tall"><input id="field"><button id="go">Go</button>
      <ul><li>One</li><li class="item">Two</li><li class="item">Three</li></ul></div></div>
      <dialog><p id="asked">Really?</p></dialog>
      <script>
        window.heard = [];
        const types = ['pointerdown', 'pointermove', 'pointerup', 'mousedown', 'mouseup', 'click',
          'wheel', 'keydown', 'keypress', 'keyup', 'input', 'focusin', 'focusout'];
        for (const type of types) {
          document.addEventListener(type, (event) => heard.push(event.type), true);
        }
      </script>`,
  },
  '/form': {
    body: `<!doctype html><title>Form page</title>
      <nav><a id="home" href="/">Home</a></nav>
      <form action="/second" id="order">
        <label>Fruit <select id="fruit" name="fruit">
          <option value="a">Apple</option><option value="p">Pear</option>
          <option value="x" disabled>Kiwi</option></select></label>
        <select id="toppings" multiple>
          <option value="1">Cream</option><option value="2">Nuts</option>
          <option value="3">Honey</option></select>
        <input id="amount" name="amount" value="">
        <input id="secret" type="password" value="hush">
        <input id="gift" type="checkbox">
        <textarea id="remark"></textarea>
        <button id="send">Place the <b>order</b></button>
      </form>
      <p class="hint">Delivered <b>to</b>morrow.</p>
      <p class="hint" style="display: none">Delivered never.</p>
      <div id="menu">Menu</div>
      <script>
        window.heard = [];
        const types = ['keydown', 'keypress', 'keyup', 'input', 'change', 'focusin'];
        for (const type of types) {
          document.addEventListener(type, (event) =>
            heard.push(type + ' ' + (event.key ?? event.target.id)));
        }
        const menu = document.querySelector('#menu');
        for (const type of ['pointerover', 'mouseover', 'mouseenter', 'mousemove']) {
          menu.addEventListener(type, () => heard.push(type));
        }
      </script>`,
  },
  '/tall': {
    body: `<!doctype html><title>Tall page</title>
      <style>
        body { margin: 0; background: white; }
        #bar { position: fixed; top: 0; left: 0; right: 0; height: 40px; background: black; }
        #sticky { position: sticky; top: 40px; height: 20px; background: blue; }
        section { height: 500px; }
      </style>
      <div id="bar"></div>
      <section style="background: rgb(200, 0, 0)"></section>
      <div id="sticky"></div>
      <section style="background: rgb(0, 200, 0)"></section>
      <section id="third" style="background: rgb(0, 0, 200); width: 300px"></section>
      <section style="background: rgb(200, 200, 0)"></section>
      <section style="background: rgb(0, 200, 200)"></section>`,
  },
  '/endless': {
    body: `<!doctype html><title>Endless page</title>
      <div style="height: 40000px; background: linear-gradient(red, blue)"></div>`,
  },
  '/talkative': {
    body: `<!doctype html><title>Talkative page</title>
      <script>
        console.log('hello', { a: 1, b: [true, null] }, 7n);
        console.warn(new Error('a warning'));
        console.debug({ get trap() { window.trapped = true; return 1; } });
        Promise.reject(new TypeError('not handled'));
        setTimeout(() => { throw new RangeError('not caught'); });
      </script>`,
  },
  '/attachment': {
    body: 'PK', headers: { 'Content-Type': 'text/plain', 'Content-Disposition': 'attachment; filename="bill 1.txt"' },
  },
  '/unknown.bin': { body: 'PK', headers: { 'Content-Type': 'application/of-nobody' }, isOpen: true },
  '/to-attachment': { status: 302, headers: { Location: '/attachment' } },
  '/paper.pdf': { body: pdf('Invoice 4711'), headers: { 'Content-Type': 'application/pdf' } },
  '/papers': { body: '<!doctype html><title>Papers</title><p>Around it.</p>' },
  '/nothing': { status: 204 },
  '/unchanged': { status: 304 },
  '/reset': { status: 205 },
  '/files': {
    body: `<!doctype html><title>Files</title><a id="large" href="/unknown.bin">Large</a>
      <a id="nothing" href="/nothing">Nothing</a>`,
  },
  '/closing': {
    body: `<!doctype html><title>Closing</title><p>Soon over.</p>
      <script>addEventListener('load', () => setTimeout(close, location.search.slice(1)))</script>`,
  },
  '/unfinished': {
    body: `<!doctype html><title>Unfinished</title><p>Here already.</p><button id="go">Go</button>
      <img src="/never"><iframe src="/never"></iframe>`,
  },
  '/streaming': {
    body: `<!doctype html><title>Streaming</title><p>Here already.</p>${' '.repeat(4096)}`, isOpen: true,
  },
  '/long': { body: `<!doctype html><title>Long page</title><p>${'word '.repeat(30_000)}</p>` },
};

/** Requests to this path get no answer until the server stops. */
const NEVER_ANSWERED = '/never';

/** Scripts request this path, with `?id=…`, to have their runs counted. */
const COUNTED = '/count';

/**
 * Serves the tests' pages, from loopback. Any query string is ignored. `own` are pages of the test,
 * by path: `{status, body, headers, after, isOpen}`, where `after` is a delay in ms, and the answer
 * of a page with `isOpen` never ends.
 */
export async function startPageServer(own = {}) {
  const counts = new Map();
  const server = createServer((request, response) => {
    const { pathname, searchParams } = new URL(request.url, 'http://page');
    if (pathname === NEVER_ANSWERED) return undefined;
    if (pathname === COUNTED) {
      const id = searchParams.get('id');
      counts.set(id, (counts.get(id) ?? 0) + 1);
      return response.writeHead(200).end(String(counts.get(id)));
    }
    const page = own[pathname] ?? PAGES[pathname];
    if (!page) return response.writeHead(404).end();
    const headers = { 'Content-Type': 'text/html; charset=utf-8', ...page.headers };
    setTimeout(() => {
      response.writeHead(page.status ?? 200, headers);
      if (page.isOpen) response.write(page.body);
      else response.end(page.body);
    }, page.after ?? 0);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    /** The number of runs of each id. */
    counts,
    url: `http://127.0.0.1:${server.address().port}`,
    async stop() {
      const closed = once(server, 'close');
      server.close();
      server.closeAllConnections();
      await closed;
    },
  };
}
