import { NETWORK_ENTRIES, NETWORK_TABS, URL_CHARS } from './limits.js';

/**
 * Remembers the last requests of each tab, with what became of them. It watches from when the
 * service worker was started, and forgets with it; it never sees bodies or headers.
 *
 * `requests` is chrome.webRequest, `tabs` chrome.tabs, `wallNow` tells the time in ms.
 */
export function watchNetwork({ requests, tabs, wallNow }) {
  const since = wallNow();
  /** By tab id, the one that was asked for longest ago first: `{entries, dropped}`. */
  const logs = new Map();
  /** The entries of requests under way, by the browser's id of the request. */
  const underWay = new Map();

  function logOf(tabId) {
    const log = logs.get(tabId) ?? { entries: [], dropped: false };
    logs.delete(tabId);
    logs.set(tabId, log);
    if (logs.size > NETWORK_TABS) forget(logs.keys().next().value);
    return log;
  }

  function forget(tabId) {
    for (const { requestId } of logs.get(tabId)?.entries ?? []) underWay.delete(requestId);
    logs.delete(tabId);
  }

  function begin({ requestId, tabId, method, type, url, timeStamp }) {
    if (tabId < 0) return;
    const log = logOf(tabId);
    const shown = { time: iso(timeStamp), method, type, url: url.slice(0, URL_CHARS) };
    const entry = { requestId, beganAt: timeStamp, shown };
    log.entries.push(entry);
    underWay.set(requestId, entry);
    if (log.entries.length <= NETWORK_ENTRIES) return;
    underWay.delete(log.entries.shift().requestId);
    log.dropped = true;
  }

  function end({ requestId, timeStamp }, outcome) {
    const entry = underWay.get(requestId);
    if (!entry) return;
    underWay.delete(requestId);
    Object.assign(entry.shown, outcome, { duration_ms: Math.round(timeStamp - entry.beganAt) });
  }

  const everything = { urls: ['<all_urls>'] };
  requests.onBeforeRequest.addListener(begin, everything);
  requests.onBeforeRedirect.addListener(
    (details) => end(details, { status: details.statusCode, redirected_to: details.redirectUrl }),
    everything,
  );
  requests.onCompleted.addListener(
    (details) => end(details, { status: details.statusCode, from_cache: details.fromCache }),
    everything,
  );
  requests.onErrorOccurred.addListener(
    (details) => end(details, { error: details.error }),
    everything,
  );
  tabs.onRemoved.addListener(forget);

  return {
    /**
     * `{entries, truncated, observed_since}`: the last requests of a tab whose address contains
     * the text, oldest first. One without `status` and `error` is under way.
     */
    recent(tabId, limit, part) {
      const { entries, dropped } = logs.get(tabId) ?? { entries: [], dropped: false };
      const wanted = entries.map(({ shown }) => shown).filter(({ url }) => url.includes(part));
      return {
        entries: wanted.slice(-limit),
        truncated: wanted.length > limit || dropped,
        observed_since: iso(since),
      };
    },
  };
}

function iso(ms) {
  return new Date(ms).toISOString();
}
