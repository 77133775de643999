/** Where the gateway listens unless the user says otherwise. */
export const DEFAULT_SERVER_URL = 'http://127.0.0.1:7890';

/**
 * The settings, kept in a chrome.storage area: `serverUrl` and `token` are the user's, `workerId`
 * is made up once so that the gateway knows this browser again after a restart.
 */
export async function loadSettings({ storage, newId, log }) {
  const stored = await storage.get(['serverUrl', 'token', 'workerId']);
  const workerId = stored.workerId ?? newId();
  if (!stored.workerId) await storage.set({ workerId });
  return { serverUrl: usableUrl(stored.serverUrl, log), token: stored.token, workerId };
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
