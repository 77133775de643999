/** The options page: fields over chrome.storage.local. The service worker notices changes. */
import { testConnection } from './src/connection_test.js';
import { parsePairing, serverUrlWarning, settingsProblem } from './src/pairing.js';
import { DEFAULT_SERVER_URL, DEFAULT_TARGET } from './src/settings.js';

const FIELDS = ['serverUrl', 'token', 'name', 'target'];

const form = document.querySelector('form');
const output = document.querySelector('output');
const field = (name) => form.elements[name];

function say(sentence, look = '') {
  output.value = sentence;
  output.className = look;
  output.scrollIntoView({ block: 'nearest' });
}

/** What is entered, or null where something is wrong with it; then the person is told. */
function entered() {
  const settings = Object.fromEntries(FIELDS.map((name) => [name, field(name).value.trim()]));
  settings.openGateway = field('openGateway').checked;
  const wrong = settingsProblem(settings);
  for (const name of FIELDS) {
    field(name).setAttribute('aria-invalid', String(name === wrong?.field));
  }
  if (!wrong) return settings;
  say(wrong.problem, 'bad');
  field(wrong.field).focus();
  return null;
}

function warn() {
  const warning = document.getElementById('urlWarning');
  warning.textContent = serverUrlWarning(field('serverUrl').value.trim()) ?? '';
  warning.hidden = warning.textContent === '';
}

form.addEventListener('submit', async (event) => {
  event.preventDefault();
  const settings = entered();
  if (!settings) return;
  await chrome.storage.local.set(settings);
  say('Saved.', 'good');
});

field('serverUrl').addEventListener('input', warn);
// It is the one or the other.
field('token').addEventListener('input', () => { field('openGateway').checked = false; });
field('openGateway').addEventListener('change', ({ target }) => {
  if (target.checked) field('token').value = '';
});

field('test').addEventListener('click', async () => {
  const settings = entered();
  if (!settings) return;
  say('Testing the connection…');
  field('test').disabled = true;
  const serverUrl = settings.serverUrl || DEFAULT_SERVER_URL;
  const fetchIt = (...args) => fetch(...args);
  const { ok, sentence } = await testConnection({ ...settings, serverUrl, fetch: fetchIt });
  field('test').disabled = false;
  say(sentence, ok ? 'good' : 'bad');
});

form.addEventListener('paste', (event) => {
  const pairing = parsePairing(event.clipboardData.getData('text'));
  if (!pairing) return;
  event.preventDefault();
  field('serverUrl').value = pairing.serverUrl;
  field('token').value = pairing.token;
  field('openGateway').checked = pairing.token === '';
  warn();
  say('Address and token filled in. Save to pair this browser.');
});

const stored = await chrome.storage.local.get([...FIELDS, 'openGateway']);
for (const name of FIELDS) field(name).value = stored[name] ?? '';
field('openGateway').checked = stored.openGateway === true && !stored.token;
warn();
field('serverUrl').placeholder = DEFAULT_SERVER_URL;
field('target').placeholder = DEFAULT_TARGET;
