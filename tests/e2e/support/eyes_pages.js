/** Ten pages of common kinds. */

const range = (count, make) => [...Array(count).keys()].map(make).join('');
const WORDS = ('the city council will vote on a new plan for trams after years of debate about cost and '
  + 'routes while people who live near the river ask for quieter streets and more trees').split(' ');
const words = (from, count) => [...Array(count).keys()].map((at) => WORDS[(from * 7 + at * 3) % WORDS.length]).join(' ');
const html = (title, body, style = '') =>
  `<!doctype html><html lang="en"><title>${title}</title><style>${style}</style>${body}</html>`;

const header = `<header><a href="/home"><img src="/none.png" alt="Example Shop"></a>
  <nav aria-label="Main"><ul>${['Men', 'Women', 'Children', 'Sale'].map((name) =>
    `<li><a href="/${name}">${name}</a></li>`).join('')}</ul></nav>
  <form role="search"><input type="search" placeholder="Search products"><button>Search</button></form></header>`;
const footer = `<footer><ul>${['Imprint', 'Privacy', 'Jobs', 'Help'].map((name) =>
  `<li><a href="/${name}">${name}</a></li>`).join('')}</ul><p>© 2026 Example Shop</p></footer>`;

const COUNTRIES = ['Choose…', 'Austria', 'Belgium', 'Croatia', 'Denmark', 'Estonia', 'France', 'Germany',
  'Hungary', 'Ireland', 'Latvia'];

const form = html('Checkout – Example Shop', `${header}<main><h1>Checkout</h1><form>
  <fieldset><legend>Contact</legend>
    <label>First name <input required></label> <label>Last name <input required></label>
    <label for="mail">E-mail</label><input id="mail" type="email" required placeholder="you@example.com">
    <label for="tel">Phone</label><input id="tel" type="tel" aria-describedby="why"><small id="why">For the driver.</small>
  </fieldset>
  <fieldset><legend>Address</legend><label>Street <input value="Main street 5"></label>
    <label>Postcode <input size="5"></label> <label>City <input></label>
    <label>Country <select>${COUNTRIES.map((name) => `<option>${name}</option>`).join('')}</select></label></fieldset>
  <fieldset><legend>Delivery</legend>
    <label><input type="radio" name="d" checked> Standard (3–5 days, free)</label>
    <label><input type="radio" name="d"> Express (1 day, 9.90)</label>
    <label>Day <input type="date"></label></fieldset>
  <fieldset><legend>Payment</legend><label>Card number <input autocomplete="cc-number" value="4111111111111111"></label>
    <label>CVC <input type="password" value="987654"></label></fieldset>
  <label>Remarks <textarea></textarea></label>
  <label><input type="checkbox" required> I accept the <a href="/terms">terms</a></label>
  <label><input type="checkbox" checked> Send me news</label>
  <button type="button" disabled>Apply voucher</button> <button>Place order</button></form></main>${footer}`);

const table = html('Orders', `${header}<main><h1>Orders</h1><table><caption>All orders</caption>
  <thead><tr><th></th><th>Order</th><th>Customer</th><th>Date</th><th>Total</th><th>State</th><th></th></tr></thead>
  <tbody>${range(200, (row) => `<tr><td><input type="checkbox" aria-label="Select order ${1000 + row}"></td>
    <td><a href="/order/${1000 + row}">#${1000 + row}</a></td><td>${['Ada Lee', 'Bob Ray', 'Cyd Fox'][row % 3]}</td>
    <td>2026-01-${String((row % 28) + 1).padStart(2, '0')}</td><td>${(row * 7) % 300}.00</td><td>${row % 4 ? 'paid' : 'open'}</td>
    <td><button>Edit</button><button>Delete</button></td></tr>`)}</tbody></table></main>${footer}`);

const news = html('The Daily Example', `${header}<main>${range(12, (block) => `<section aria-labelledby="s${block}">
  <h2 id="s${block}">Section ${block}</h2>${range(7, (item) => `<article><a href="/2026/03/14/city/${words(block + item, 6).replaceAll(' ', '-')}-${block}${item}.html">
    <img src="/none.png" alt="${words(block + item, 5)}"><h3>${words(block * 3 + item, 8)} ${block}.${item}</h3></a>
    <p>${words(block + item * 5, 24)}.</p><p>By <a href="/by/${item}">Reporter ${item}</a>, <time>3 March</time> ·
    <a href="/c/${block}-${item}">${item * 3} comments</a></p></article>`)}</section>`)}</main>${footer}`);

const article = html('Trams', `${header}<main><h1>Trams</h1>${range(25, (part) => `<h2>Part ${part}</h2>
  ${range(3, (each) => `<p>${words(part + each, 14)} <a href="/encyclopedia/${words(part * each, 2)}" title="${words(part * each, 2)}">${words(part * each, 2)}</a>
  ${words(part * 2 + each, 12)} <a href="/encyclopedia/Trams_of_the_${part}th_century"><i>${words(each, 1)}</i> ${part}</a>, and <b>${words(part, 3)}</b>
  <sup><a href="#cite_note-trams-${part}-${each}" class="cite">[${part * 3 + each}]</a></sup> ${words(each, 20)}.</p>`)}`)}</main>${footer}`);

const shop = html('Chairs', `${header}<main><h1>Chairs</h1><aside aria-label="Filters"><fieldset><legend>Colour</legend>
  ${['Black', 'White', 'Oak'].map((name) => `<label><input type="checkbox">${name}</label>`).join('')}</fieldset>
  <label>Up to <input type="range" min="0" max="900" value="300"></label></aside>
  <ul class="grid">${range(40, (item) => `<li><a href="/chairs/wooden/chair-${item}?colour=oak&amp;from=list"><img src="/none.png" alt="">
    <span class="name">Chair ${item}</span><div>${item * 9 + 20}.00 €</div></a><button aria-label="Add chair ${item} to the basket">
    <svg width="16" height="16"><path d="M0 0h9"/></svg></button><div class="stars" role="img" aria-label="${item % 5} of 5 stars"></div></li>`)}</ul>
  <nav aria-label="Pages"><a href="?1" aria-current="page">1</a> <a href="?2">2</a> <a href="?2" rel="next" title="Next page">›</a></nav></main>${footer}`);

const controls = html('Controls', `<main><h1 id="h">Settings</h1>
  <div role="tablist" aria-label="Areas"><div role="tab" aria-selected="true" tabindex="0" id="t1">General</div>
    <div role="tab" tabindex="-1"><span aria-hidden="true">★</span> Safety</div></div>
  <div role="tabpanel" aria-labelledby="t1"><div role="switch" aria-checked="true" tabindex="0" aria-labelledby="sw1 sw2"></div>
    <span id="sw1">Dark</span> <span id="sw2" hidden>mode</span>
    <div role="slider" aria-label="Volume" aria-valuenow="30" aria-valuemin="0" aria-valuemax="100" tabindex="0"></div>
    <label>Number <input type="number" value="4" min="0" max="9"></label>
    <label>Flash the screen <input size="2" value="3"> times <input type="checkbox"></label>
    <div role="combobox" aria-expanded="false" aria-label="Language" tabindex="0">English</div>
    <input list="l" aria-label="Fruit"><datalist id="l"><option>Apple</option></datalist>
    <select multiple aria-label="Toppings"><option selected>Nuts</option><option selected>Cream</option><option>Honey</option></select>
    <button aria-pressed="true" class="icon"></button> <button title="Close the panel">×</button>
    <button><svg width="10" height="10"><title>Reload</title><path d="M0 0h9"/></svg></button>
    <input type="submit"> <input type="reset"> <input type="button" value="Plain"> <input type="image" alt="Go" src="/none.png">
    <input type="file" aria-label="Photo"> <a href="/x"><div>Block</div><div>content</div></a>
    <a href="/y" aria-labelledby="y1 y2" id="y1" aria-label="Delete">x</a><span id="y2">Report.pdf</span>
    <label for="hidden-by-css">Newsletter</label><input id="hidden-by-css" type="checkbox" style="opacity:0">
    <input title="Only a title"> <input placeholder="Only a placeholder"> <textarea aria-label="Notes">Some notes</textarea>
    <div contenteditable role="textbox" aria-label="Body">Hi</div><a href="/b" class="badge">Inbox</a></div>
  <ul role="tree" aria-label="Files"><li role="treeitem" aria-expanded="true" tabindex="0">src</li><li role="treeitem">docs</li></ul>
  <div role="menu" aria-label="Edit"><div role="menuitem" tabindex="-1">Cut</div><div role="menuitemcheckbox" aria-checked="true">Wrap</div></div>
  <ul role="listbox" aria-label="Size"><li role="option" aria-selected="true">Small</li><li role="option">Large</li></ul>
  <details><summary>Advanced</summary><button>Hidden in there</button></details>
  <div style="display:none"><button>Not there</button></div><div aria-hidden="true"><button>Nor this</button></div>
  <div style="visibility:hidden"><button>Nor that</button><button style="visibility:visible">But this</button></div>
  <div onclick="1" style="cursor:pointer">Save for later</div></main>`,
'.icon::before { content: "Bold" } .badge::after { content: " (3)" }');

const mail = html('Inbox', `${header}<main><div role="toolbar" aria-label="Mail"><button>Archive</button><button>Spam</button></div>
  <div role="grid" aria-label="Messages">${range(45, (row) => `<div role="row"><div role="gridcell"><div role="checkbox"
    aria-checked="false" tabindex="0" aria-label="Select message ${row}"></div></div><div role="gridcell">Sender ${row}</div>
    <div role="gridcell"><a href="/m/${row}">${words(row, 5)}</a></div><div role="gridcell">${row}:15</div></div>`)}</div></main>
  <div role="dialog" aria-modal="true" aria-label="Keep in touch"><p>Get our news.</p><button>No, thanks</button></div>`);

const dashboard = html('Dashboard', `<nav><ul>${range(14, (item) => `<li><a href="/d/${item}">Area ${item}</a><ul><li>
  <a href="/d/${item}/a">Overview ${item}</a></li></ul></li>`)}</ul></nav><main>${range(12, (card) => `<div class="card"><div class="head">
  <h3>Figure ${card}</h3><div><button aria-label="More about figure ${card}" aria-haspopup="menu">⋮</button></div></div>
  <div><span>${card * 131}</span> <span>+${card} %</span></div><div><div><a href="/f/${card}">Details</a></div></div></div>`)}</main>`);

const frames = ({ other }) => html('Frames', `<main><h1>Outer</h1><button>Outer button</button>
  <iframe title="Same site" src="/inner"></iframe><iframe title="Other site" src="${other}/pay"></iframe></main>`);
const inner = html('Inner', '<h2>Inner</h2><label>Inner field <input></label> <button>Inner button</button><a href="#x">Inner link</a>');
const pay = html('Pay', `<label>Card number <input></label> <label>Holder <input></label>
  <button>Pay</button><label><input type="checkbox">Keep the card</label><iframe title="Deepest" src="/deepest"></iframe>`);
const deepest = html('Deepest', '<button>Deepest button</button>');

const components = html('Components', `<main><h1>Components</h1><x-card><a href="#l">Light link</a><button slot="act">Slotted</button></x-card>
  <x-field></x-field><x-closed></x-closed><x-list></x-list></main><script>
  const define = (name, mode, text) => customElements.define(name, class extends HTMLElement {
    constructor() { super(); this.attachShadow({ mode }).innerHTML = text; }
  });
  define('x-card', 'open', '<section><h2>Card</h2><slot></slot><slot name="act"></slot><button>In the card</button></section>');
  define('x-field', 'open', '<label>Open field <input></label><x-inner></x-inner>');
  define('x-inner', 'open', '<select aria-label="Open list"><option>One</option><option>Two</option></select>');
  define('x-closed', 'closed', '<button>Closed button</button><label>Closed field <input></label>');
  define('x-list', 'open', '<ul><li><a href="#i">Item link</a></li></ul>');
  </script>`);

export const pages = {
  '/form': form, '/table': table, '/news': news, '/article': article, '/shop': shop,
  '/controls': controls, '/mail': mail, '/dashboard': dashboard, '/components': components,
  '/inner': inner, '/pay': pay, '/deepest': deepest,
};

/** The server's answer; `other` is its address by another name. */
export function serve(path, other) {
  const [name] = path.split(/[?#]/);
  return name === '/frames' ? frames({ other }) : pages[name];
}

export const LOOKED_AT = ['/form', '/table', '/news', '/article', '/shop', '/controls', '/mail', '/dashboard',
  '/frames', '/components'];
