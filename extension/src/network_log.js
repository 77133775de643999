import { downloadName, savedName } from './download_name.js';
import { NETWORK_ENTRIES, NETWORK_TABS, REQUEST_URL_CHARS } from './limits.js';
import { createRequestDetails, shownBody, shownHeaders } from './request_details.js';
import { toldAddress } from './told_page.js';

/** Displayed in the tab, or else saved as a file. */
const DOCUMENTS = ['main_frame', 'sub_frame'];

/** May be saved as a file: those, and requests of links with `download`. */
const SAVED = [...DOCUMENTS, 'other'];

/** Requests after which the page may change: documents, fetch and XMLHttpRequest. */
const LEADS_ON = [...DOCUMENTS, 'xmlhttprequest'];

/**
 * Remembers the last requests of each tab and their results. It watches from the start of the service
 * worker, and its memory ends with it. Of headers and bodies it keeps only what is not secret.
 *
 * `requests` is chrome.webRequest, `tabs` chrome.tabs, `wallNow` returns the time in ms.
 */
export function watchNetwork({ requests, tabs, wallNow }) {
  const since = wallNow();
  /** By tab id, the least recently used first: `{entries, dropped, endedAt}`. */
  const logs = new Map();
  /** The entries of requests under way, by the browser's id of the request. */
  const underWay = new Map();
  const details = createRequestDetails();

  function logOf(tabId) {
    const log = logs.get(tabId) ?? { entries: [], dropped: false, endedAt: 0 };
    logs.delete(tabId);
    logs.set(tabId, log);
    if (logs.size > NETWORK_TABS) forget(logs.keys().next().value);
    return log;
  }

  function forget(tabId) {
    for (const { requestId, shown } of logs.get(tabId)?.entries ?? []) {
      underWay.delete(requestId);
      details.forget(shown.id);
    }
    logs.delete(tabId);
  }

  /** A redirected request becomes another entry, with its own number. */
  function idOf(requestId, { entries }) {
    const before = entries.filter((entry) => entry.requestId === requestId).length;
    return before === 0 ? requestId : `${requestId}.${before + 1}`;
  }

  function begin({ requestId, tabId, method, type, url, timeStamp, requestBody }) {
    if (tabId < 0) return;
    const log = logOf(tabId);
    const id = idOf(requestId, log);
    const body = shownBody(requestBody);
    if (body !== undefined) details.add(id, { request_body: body });
    const shown = { id, time: iso(timeStamp), method, type, url: toldAddress(url) };
    // A truncated address would be a different one.
    const whole = url.length > REQUEST_URL_CHARS ? '' : url;
    const entry = { requestId, tabId, url: whole, beganAt: timeStamp, shown, outcome: { answered: false } };
    log.entries.push(entry);
    underWay.set(requestId, entry);
    if (log.entries.length <= NETWORK_ENTRIES) return;
    const oldest = log.entries.shift();
    underWay.delete(oldest.requestId);
    details.forget(oldest.shown.id);
    log.dropped = true;
  }

  function end({ requestId, timeStamp }, outcome) {
    const entry = underWay.get(requestId);
    if (!entry) return;
    underWay.delete(requestId);
    Object.assign(entry.outcome, { answered: outcome.redirected_to === undefined, error: outcome.error });
    if (leadsOn(entry) && logs.has(entry.tabId)) logs.get(entry.tabId).endedAt = wallNow();
    Object.assign(entry.shown, outcome, { duration_ms: Math.round(timeStamp - entry.beganAt) });
  }

  const isOpen = ({ requestId, endless }) => underWay.has(requestId) && !endless;

  const everything = { urls: ['<all_urls>'] };
  requests.onBeforeRequest.addListener(begin, everything, ['requestBody']);
  requests.onSendHeaders.addListener(({ requestId, requestHeaders }) => {
    const entry = underWay.get(requestId);
    if (entry) details.add(entry.shown.id, { request_headers: shownHeaders(requestHeaders) });
  }, everything, ['requestHeaders', 'extraHeaders']);
  requests.onBeforeRedirect.addListener(
    (details) => end(details, { status: details.statusCode, redirected_to: toldAddress(details.redirectUrl) }),
    everything,
  );
  // An event stream stays open as long as the page: nothing waits for its end.
  requests.onResponseStarted.addListener(({ requestId, statusCode, responseHeaders = [] }) => {
    const entry = underWay.get(requestId);
    if (entry) Object.assign(entry.outcome, { answered: true, status: statusCode });
    const type = responseHeaders.find(({ name }) => name.toLowerCase() === 'content-type');
    if (entry && type?.value?.startsWith('text/event-stream')) entry.endless = true;
  }, everything, ['responseHeaders']);
  requests.onHeadersReceived.addListener(({ requestId, type, url, responseHeaders = [] }) => {
    const entry = underWay.get(requestId);
    if (!entry) return;
    details.add(entry.shown.id, { response_headers: shownHeaders(responseHeaders) });
    if (isPage(entry)) entry.outcome.name = savedName(url, responseHeaders);
    if (SAVED.includes(type)) entry.file = downloadName(url, responseHeaders);
  }, everything, ['responseHeaders', 'extraHeaders']);
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
     * `{open, page, endedAt}`: how many requests for documents, fetch and XMLHttpRequest that a tab began
     * at or after a time are under way; whether one of them, including those that have ended, was for the
     * page itself; and when the last one ended. Times are in ms since 1970. An answered request for the
     * page does not count as open: the tab itself shows the progress of its page, and a download may be
     * long.
     */
    since(tabId, time) {
      const { entries, endedAt } = logs.get(tabId) ?? { entries: [], endedAt: 0 };
      const begun = entries.filter((entry) => entry.beganAt >= time && leadsOn(entry));
      return {
        open: begun.filter((entry) => isOpen(entry) && !(isPage(entry) && entry.outcome.answered)).length,
        page: begun.some(isPage),
        endedAt,
      };
    },

    /**
     * Returns a function that returns the last request for the page of a tab, even after the tab is closed:
     * always the same object `{answered, status, error, name}` for one request. `answered` is true once it
     * has led to a page, to a file, or to nothing; `name` is that of a file.
     */
    pageRequest(tabId) {
      const log = logOf(tabId);
      return () => log.entries.findLast(isPage)?.outcome;
    },

    /** `{type, url}` of each request of a tab that is under way. */
    underWay(tabId) {
      const { entries } = logs.get(tabId) ?? { entries: [] };
      return entries.filter(isOpen).map(({ shown: { type, url } }) => ({ type, url }));
    },

    /** `{name, url}` of each file that a tab began to download at or after a time. */
    downloads(tabId, time) {
      const { entries } = logs.get(tabId) ?? { entries: [] };
      return entries.filter(({ beganAt, file }) => beganAt >= time && file)
        .map(({ file, url }) => ({ name: file, url }));
    },

    /**
     * `{entry, url}` of one request of a tab by its `id`, or undefined: its full address, and the entry as
     * in `recent` with `request_headers`, `request_body` and `response_headers` if known.
     */
    entry(tabId, id) {
      const found = logs.get(tabId)?.entries.find(({ shown }) => shown.id === id);
      return found && { entry: { ...found.shown, ...details.of(id) }, url: found.url };
    },

    /**
     * `{entries, truncated, observed_since}`: the last requests of a tab whose address contains the text,
     * oldest first. One without `status` and `error` is under way.
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

const isPage = ({ shown }) => shown.type === 'main_frame';

function leadsOn({ shown }) {
  return LEADS_ON.includes(shown.type);
}

function iso(ms) {
  return new Date(ms).toISOString();
}
