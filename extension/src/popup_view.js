import { refusalIn } from './connection_test.js';
import { CONNECTED_WITHIN_MS } from './limits.js';

/**
 * The texts of the popup, derived from the status that the service worker publishes (see status.js) and
 * from `now`, in ms since 1970.
 */

const WORDS = {
  connected: { text: 'Connected', look: 'good' },
  connecting: { text: 'Connecting', look: 'wait' },
  disconnected: { text: 'Not connected', look: 'bad' },
  paused: { text: 'Paused', look: 'wait' },
  spoofed: { text: 'Gateway not verified', look: 'bad' },
  unpaired: { text: 'Not paired', look: 'wait' },
};

/**
 * The state of the connection, as `{text, look, since, error}`. It is connected if the gateway answered
 * within the last 10 s, whatever was published: the service worker may have been ended since.
 */
export function describeConnection(status, now) {
  if (!status) return { ...WORDS.connecting, since: '' };
  const { connection, since, polledAt, error } = status;
  const lost = connection === 'connected' && !(now - polledAt < CONNECTED_WITHIN_MS);
  const words = WORDS[lost ? 'disconnected' : connection];
  const at = lost ? polledAt : since;
  if (connection === 'unpaired') return { ...words, since: '', error: HOW_TO_PAIR };
  const problem = lost ? 'The gateway is not responding.' : error && describeProblem(connection, error);
  return { ...words, since: `for ${age(now - at)}`, error: problem };
}

const HOW_TO_PAIR = 'This browser runs no commands until you pair it with your gateway.';
const SPOOFED = 'The program at this address does not know your token. It cannot control this '
  + 'browser, and no data is sent to it. If it is your gateway, enter a current token from its '
  + 'token file.';

/** The error of a poll, for a person: the address is shown next to it. */
function describeProblem(connection, error) {
  if (connection === 'spoofed') return SPOOFED;
  const silent = error.includes('got no answer');
  return silent ? 'No response. Is the gateway running?' : refusalIn(error) ?? error;
}

export function describeTarget({ target, name }) {
  return name ? `${target}, as “${name}”` : target;
}

/** A duration for people, in its largest unit. */
export function age(ms) {
  const seconds = Math.max(0, Math.floor(ms / 1000));
  if (seconds < 60) return `${seconds} s`;
  if (seconds < 3600) return `${Math.floor(seconds / 60)} min`;
  if (seconds < 86_400) return `${Math.floor(seconds / 3600)} h`;
  return `${Math.floor(seconds / 86_400)} d`;
}

export function describeRunning({ action, tabId, url, since }, now) {
  return { what: action + onPage(url), hint: inTab(tabId), aside: age(now - since) };
}

export function describeEnd({ action, tabId, url, outcome, at }, now) {
  const looks = { complete: 'good', stopped: 'wait' };
  const words = outcome.replaceAll('_', ' ');
  return {
    what: action + onPage(url),
    hint: inTab(tabId),
    outcome: words,
    look: looks[outcome] ?? 'bad',
    aside: `${age(now - at)} ago`,
  };
}

/** The page as people know it: without the protocol, the query and the fragment. */
function onPage(url) {
  return url ? ` on ${url.replace(/^https?:\/\//, '').replace(/\/?([?#].*)?$/, '')}` : '';
}

function inTab(tabId) {
  return tabId === undefined ? '' : `in tab ${tabId}`;
}

export function describeDrawing({ title, url, count, state, error }) {
  const marks = count === 1 ? '1 mark' : `${count} marks`;
  const sending = 'sending';
  const states = { finishing: sending, sending, refused: `rejected: ${error}` };
  return { what: `${title || url}: ${marks}`, hint: states[state] };
}
