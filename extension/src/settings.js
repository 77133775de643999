import { SETTING_CHARS } from './limits.js';
import { cutText } from './text.js';

/** Where the gateway listens unless the user says otherwise. */
export const DEFAULT_SERVER_URL = 'http://127.0.0.1:7890';

/** The queue that this browser serves unless the user says otherwise. */
export const DEFAULT_TARGET = 'browser';

/** The settings that are the user's. A change of any takes effect at once. */
export const USER_SETTINGS = ['serverUrl', 'token', 'openGateway', 'target', 'name', 'paused'];

/**
 * The settings, kept in a chrome.storage area. The user's are `serverUrl`; `token`; `openGateway`,
 * true where the user has said that the gateway asks for no token; `target`, which
 * queue this browser serves; `name`, what people call it; `paused`, true while it is to take no
 * commands. `paired` tells that one of the two was given: until then nobody is to be asked for
 * commands, since anybody may listen at the default address. `workerId` is made up once so that the gateway knows this browser after a restart.
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

/** True for text that can stand as the address of a gateway. */
export function isServerUrl(text) {
  try {
    return ['http:', 'https:'].includes(new URL(text).protocol);
  } catch {
    return false;
  }
}
