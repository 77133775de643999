import { SETTING_CHARS } from './limits.js';
import { cutText } from './text.js';

/** The default address of the gateway. */
export const DEFAULT_SERVER_URL = 'http://127.0.0.1:7890';

/** The default queue that this browser serves. */
export const DEFAULT_TARGET = 'browser';

/** The settings of the user. A change of any takes effect at once. */
export const USER_SETTINGS = ['serverUrl', 'token', 'openGateway', 'target', 'name', 'paused'];

/**
 * The settings, kept in a chrome.storage area. The user's are `serverUrl`; `token`; `openGateway`, true if
 * the user has selected that the gateway requires no token; `target`, the queue that this browser serves;
 * `name`, this browser's name for people; `paused`, true while it must take no commands. `paired` is true
 * if a token or `openGateway` is set: until then the extension must not poll, because any program may
 * listen at the default address. `workerId` is generated once so that the gateway recognizes this browser
 * after a restart.
 */
export async function loadSettings({ storage, newId, log }) {
  const stored = await storage.get([...USER_SETTINGS, 'workerId']);
  const workerId = stored.workerId ?? newId();
  if (!stored.workerId) await storage.set({ workerId });
  return {
    serverUrl: usableUrl(stored.serverUrl, log),
    token: stored.token,
    paired: Boolean(stored.token) || stored.openGateway === true,
    target: textOf(stored.target) || DEFAULT_TARGET,
    name: cutText(textOf(stored.name), SETTING_CHARS),
    paused: stored.paused === true,
    workerId,
  };
}

function textOf(value) {
  return typeof value === 'string' ? value.trim() : '';
}

function usableUrl(text, log) {
  if (!text) return DEFAULT_SERVER_URL;
  if (isServerUrl(text)) return text;
  log(`The setting serverUrl is no http or https address; using ${DEFAULT_SERVER_URL}.`);
  return DEFAULT_SERVER_URL;
}

/** True for text that can be the address of a gateway. */
export function isServerUrl(text) {
  try {
    return ['http:', 'https:'].includes(new URL(text).protocol);
  } catch {
    return false;
  }
}
