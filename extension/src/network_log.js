import { downloadName, savedName } from './download_name.js';
import { NETWORK_ENTRIES, NETWORK_TABS, REQUEST_URL_CHARS } from './limits.js';
import { createRequestDetails, shownBody, shownHeaders } from './request_details.js';
import { toldAddress } from './told_page.js';

/** What is shown in the tab, or else saved as a file. */
const DOCUMENTS = ['main_frame', 'sub_frame'];

/** What may be saved as a file: those, and what links with `download` ask for. */
const SAVED = [...DOCUMENTS, 'other'];

/** Requests after which the page may change: documents, fetch and XMLHttpRequest. */
const LEADS_ON = [...DOCUMENTS, 'xmlhttprequest'];

/**
 * Remembers the last requests of each tab, with what became of them. It watches from when the
 * service worker was started, and forgets with it. Of headers and bodies it keeps what is no secret.
 *
 * `requests` is chrome.webRequest, `tabs` chrome.tabs, `wallNow` tells the time in ms.
 */
export function watchNetwork({ requests, tabs, wallNow }) {
  const since = wallNow();
  /** By tab id, the one that was asked for longest ago first: `{entries, dropped}`. */
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

  /** A request that is redirected is another entry, with a number of its own. */
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
    // A part of an address would be another one.
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
  // An event stream is open for as long as the page is: nobody waits for its end.
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
     * `{open, page, endedAt}`: how many requests of documents, fetch and XMLHttpRequest that a tab
     * began at a time or after it are under way; whether one of them, or of those that ended, was for
     * the page itself; and when the last one ended. Times are in ms since 1970. One for the page that
     * is answered is not open: the tab itself shows how far its page is, and what is saved may be long.
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
     * Answers a function that tells of the last request for the page of a tab, also once the tab has
     * gone: always the same `{answered, status, error, name}` of one request. `answered` is true once
     * it has led to a page, to a file, or to nothing; `name` is that of a file.
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

    /** `{name, url}` of each file that a tab began to download at a time or after it. */
    downloads(tabId, time) {
      const { entries } = logs.get(tabId) ?? { entries: [] };
      return entries.filter(({ beganAt, file }) => beganAt >= time && file)
        .map(({ file, url }) => ({ name: file, url }));
    },

    /**
     * `{entry, url}` of one request of a tab by its `id`, or undefined: its whole address, and the entry
     * as in `recent` with `request_headers`, `request_body` and `response_headers` where known.
     */
    entry(tabId, id) {
      const found = logs.get(tabId)?.entries.find(({ shown }) => shown.id === id);
      return found && { entry: { ...found.shown, ...details.of(id) }, url: found.url };
    },

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

const isPage = ({ shown }) => shown.type === 'main_frame';

function leadsOn({ shown }) {
  return LEADS_ON.includes(shown.type);
}

function iso(ms) {
  return new Date(ms).toISOString();
}
