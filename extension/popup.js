/** The popup: shows what the service worker publishes, and passes on what the person wants. */
import { isDrawingKey } from './src/draw_mode/drawings.js';
import { testConnection } from './src/connection_test.js';
import { gatewayOfPage } from './src/pairing.js';
import {
  describeConnection, describeDrawing, describeEnd, describeRunning, describeTarget,
} from './src/popup_view.js';
import { STATUS } from './src/status.js';
import { createTabs } from './src/tabs.js';

const REFRESH_MS = 1_000;

const part = (id) => document.getElementById(id);
let status;
let drawings = [];
/** The address of the gateway whose page is in front, or null. */
let gatewayHere = null;

function node(tag, className, text) {
  const made = document.createElement(tag);
  made.className = className;
  made.textContent = text;
  return made;
}

/** Replaces a list where its text has changed, so that nothing is read out again without need. */
function fill(list, rows, empty) {
  const items = rows.length > 0 ? rows : [[node('span', 'soft', empty)]];
  const made = items.map((parts) => {
    const item = document.createElement('li');
    item.append(...parts);
    return item;
  });
  const text = (nodes) => [...nodes].map((each) => each.textContent).join('\n');
  if (text(list.children) !== text(made)) list.replaceChildren(...made);
}

function line({ what, hint, outcome, look, aside }) {
  const title = node('span', 'what', what);
  title.title = `${what} ${hint}`;
  return [title, ...(outcome ? [node('span', look, outcome)] : []), node('span', 'soft', aside)];
}

function show() {
  const now = Date.now();
  const { text, look, since, error } = describeConnection(status, now);
  part('connection').className = look;
  part('state').textContent = text;
  part('since').textContent = since;
  part('gateway').textContent = status?.serverUrl ?? '–';
  part('target').textContent = status?.target ? describeTarget(status) : '–';
  part('error').textContent = error ?? '';
  part('error').hidden = !error;
  const isPaired = status?.connection !== 'unpaired';
  part('facts').hidden = !isPaired;
  part('pairing').hidden = isPaired;
  part('drawing').hidden = !isPaired;
  const { running = [], recent = [] } = status ?? {};
  fill(part('running'), running.map((run) => line(describeRunning(run, now))), 'No commands');
  fill(part('recent'), recent.map((end) => line(describeEnd(end, now))), 'No commands yet');
}

async function ask(what, details = {}) {
  const answer = await chrome.runtime.sendMessage({ about: 'popup', what, ...details });
  if (answer?.error) throw new Error(answer.error);
  return answer;
}

function drawingRow(drawing) {
  const { what, hint } = describeDrawing(drawing);
  const button = (text, order) => {
    const made = node('button', 'small', text);
    made.type = 'button';
    made.setAttribute('aria-label', `${text} the drawing on ${what}`);
    made.addEventListener('click', () => ask(order, { id: drawing.id }).then(showDrawings));
    return made;
  };
  const title = node('span', 'what', hint ? `${what} – ${hint}` : what);
  title.title = title.textContent;
  const busy = ['finishing', 'sending'].includes(drawing.state);
  return [title, ...(busy ? [] : [button('Send', 'send')]), button('Discard', 'discard')];
}

async function showDrawings() {
  ({ drawings } = await ask('waiting'));
  part('drawings').closest('section').hidden = drawings.length === 0;
  fill(part('drawings'), drawings.map(drawingRow), '');
}

part('paused').addEventListener('change', ({ target }) =>
  chrome.storage.local.set({ paused: target.checked }));

part('draw').addEventListener('click', async () => {
  part('drawError').hidden = true;
  try {
    await ask('draw');
    close();
  } catch (error) {
    part('drawError').textContent = error.message;
    part('drawError').hidden = false;
  }
});

function sayOf(id, sentence) {
  part(id).textContent = sentence ?? '';
  part(id).hidden = !sentence;
}

/** Offers the gateway whose page is in front: the person sees which one that is. */
async function offerGatewayHere() {
  const tab = await createTabs(chrome).find().catch(() => null);
  gatewayHere = gatewayOfPage(tab?.url ?? '');
  part('pairHere').hidden = gatewayHere === null;
  if (gatewayHere === null) return;
  part('pairHere').textContent = `Pair with ${new URL(gatewayHere).host}`;
  part('pair').textContent = 'Pair with another gateway';
  part('pair').classList.remove('main');
}

part('pairHere').addEventListener('click', async () => {
  sayOf('pairError', null);
  part('pairHere').disabled = true;
  const serverUrl = gatewayHere;
  const found = await testConnection({ serverUrl, token: '', fetch: (...args) => fetch(...args) });
  part('pairHere').disabled = false;
  if (found.ok) return chrome.storage.local.set({ serverUrl, token: '', openGateway: true });
  if (!found.asksForToken) return sayOf('pairError', found.sentence);
  // The page of the options has room for it.
  await chrome.storage.local.set({ serverUrl });
  return chrome.runtime.openOptionsPage();
});

for (const way of ['options', 'pair']) {
  part(way).addEventListener('click', (event) => {
    event.preventDefault();
    chrome.runtime.openOptionsPage();
  });
}

chrome.storage.onChanged.addListener((changes, area) => {
  if (area === 'session' && changes[STATUS]) status = changes[STATUS].newValue;
  if (area === 'local' && changes.paused) part('paused').checked = changes.paused.newValue === true;
  if (area === 'session' && Object.keys(changes).some(isDrawingKey)) showDrawings();
  show();
});

setInterval(show, REFRESH_MS);
// Before this script runs, the popup offers nothing: the click would be lost.
part('paused').checked = (await chrome.storage.local.get('paused')).paused === true;
part('paused').disabled = false;
({ [STATUS]: status } = await chrome.storage.session.get(STATUS));
show();
await offerGatewayHere();
// Asking also starts a service worker that the browser has ended.
await showDrawings();
