/** The pages of docs/agents.md, by their paths. */

const page = (title, body) => `<!doctype html><html lang="en"><title>${title}</title>
  <main>${body}</main>`;

const SIGN_UP = page('Sign up · Example Shop', `<h1>Sign up</h1>
  <form onsubmit="event.preventDefault(); send()">
    <p><label>Name <input id="name" required></label></p>
    <p><label>E-mail <input id="email" type="email" required></label></p>
    <p><label>Country <select id="country"><option>Choose…</option><option>Austria</option>
      <option>Germany</option></select></label></p>
    <p><label><input id="terms" type="checkbox"> I accept the terms</label></p>
    <p><button>Create account</button></p>
    <div id="said" role="status"></div>
  </form>
  <script>
    const at = (id) => document.getElementById(id);
    function send() {
      at('said').textContent = at('terms').checked
        ? 'Welcome, ' + at('name').value + ' from ' + at('country').value + '!'
        : 'You have to accept the terms.';
    }
  </script>`);

const ORDERS = page('Orders · Example Shop', `<h1>Orders</h1>
  <p><label>Filter <input id="filter" type="search"></label></p>
  <table><thead><tr><th>Order</th><th>Customer</th><th>Total</th><th>State</th><th></th></tr></thead>
    <tbody></tbody></table>
  <script>
    const names = ['Ada Lee', 'Bo Chen', 'Cy Diaz', 'Di Ek'];
    const rows = Array.from({ length: 120 }, (_, i) => '<tr><td>#' + (1000 + i) + '</td><td>'
      + names[i % 4] + '</td><td>' + (20 + i) + '.00</td><td>paid</td>'
      + '<td><button>Refund</button></td></tr>');
    const body = document.querySelector('tbody');
    body.innerHTML = rows.join('');
    body.onclick = ({ target }) => {
      if (target.localName !== 'button' || !confirm('Refund this order?')) return;
      target.closest('tr').cells[3].textContent = 'refunded';
      target.remove();
    };
    document.getElementById('filter').oninput = ({ target }) => {
      for (const row of body.rows) row.hidden = !row.textContent.includes(target.value);
    };
  </script>`);

const LOGIN = page('Sign in · Example Shop', `<h1>Sign in</h1>
  <form action="/home"><p><label>Password <input id="password" type="password"></label></p>
  <p><button>Sign in</button></p></form>`);

const HOME = page('Home · Example Shop', '<h1>Hello again</h1><p><a href="/orders">Orders</a></p>');

const FILES = page('Documents · Example Shop', `<h1>Documents</h1>
  <button type="button" onclick="pick.click()">Add documents</button>
  <input id="pick" type="file" multiple style="display: none"><ul></ul>
  <script>
    document.getElementById('pick').onchange = ({ target }) => {
      document.querySelector('ul').innerHTML = [...target.files]
        .map(({ name, size }) => '<li>' + name + ', ' + size + ' bytes</li>').join('');
    };
  </script>`);

export const AGENTS_PAGES = {
  '/signup': SIGN_UP, '/orders': ORDERS, '/login': LOGIN, '/home': HOME, '/documents': FILES,
};
