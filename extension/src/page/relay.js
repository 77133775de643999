/* global callslipCutText */
/**
 * Runs in the extension's own world of each frame of a tab in which a command runs: passes the events of
 * page/main/stand_ins.js to the service worker, and asks it at the beginning whether a command runs in this
 * tab at all. While one does, it also reports clicks on links that open a tab or save a file, for which the
 * browser does not identify the page.
 *
 * The stand-ins begin by sending the name of the events between the two; the relay listens for this only
 * until it arrives, and only for a limited time. So a page in whose tab no command runs finds no listener.
 * `callslipRelay.order({ms, dialog})` arms the stand-ins for that time, and returns whether they exist;
 * `wait()` accepts new ones.
 */
(() => {
  // An element of the page may have the same name, but is not an own property of the global object.
  if (Object.hasOwn(globalThis, 'callslipRelay')) return globalThis.callslipRelay.wait();

  const HERE = 'callslip-here';
  /** The most events that one document can report in this many ms: more than any well-meaning page needs. */
  const EVENTS = 100;
  const EVENTS_MS = 1_000;
  /** How long the stand-ins are armed before it is known whether a command runs, in ms. */
  const UNCONFIRMED_MS = 1_000;
  /**
   * The longest event as JSON, and the longest address in it, in UTF-16 units: two texts of 2,000, all of
   * it escaped.
   */
  const DETAIL_CHARS = 50_000;
  const URL_CHARS = 2_000;

  const send = (what) => chrome.runtime.sendMessage({ ...what, about: 'page' });

  /** The name of the events; undefined while there are no stand-ins. */
  let name;
  let answer = globalThis.callslipAccepts === true ? 'accept' : 'dismiss';
  let armedUntil = -Infinity;
  let timer;

  function say(detail) {
    document.dispatchEvent(new CustomEvent(name, { detail }));
  }

  function meet(event) {
    if (typeof event.detail !== 'string') return;
    event.preventDefault();
    document.removeEventListener(HERE, meet);
    name = event.detail;
    document.addEventListener(`${name}-told`, hear);
    say(answer);
  }

  function hear({ detail }) {
    if (performance.now() > armedUntil || typeof detail?.kind !== 'string') return;
    try {
      tell(JSON.stringify(detail).length > DETAIL_CHARS ? { kind: 'more' } : detail);
    } catch {
      // The stand-ins send only events that can be JSON.
    }
  }

  function armFor(ms) {
    armedUntil = performance.now() + ms;
    clearTimeout(timer);
    timer = setTimeout(end, ms);
  }

  function wait() {
    if (name !== undefined) return;
    document.addEventListener(HERE, meet);
    if (performance.now() > armedUntil) armFor(UNCONFIRMED_MS);
  }

  /** Removes the listeners, and makes the stand-ins remove themselves. */
  function end() {
    clearTimeout(timer);
    armedUntil = -Infinity;
    document.removeEventListener(HERE, meet);
    if (name === undefined) return;
    say(null);
    document.removeEventListener(`${name}-told`, hear);
    name = undefined;
  }

  function order({ ms, dialog }) {
    if (ms <= 0) {
      end();
    } else {
      armFor(ms);
      answer = dialog ?? answer;
      if (name !== undefined) say(answer);
    }
    return { page: name !== undefined };
  }

  globalThis.callslipRelay = { order, wait };
  wait();

  /** Events since a time, errors and all others: their total, and the number reported as counts. */
  let since = -Infinity;
  let told;

  /** Beyond the limit only the number of events is reported, each time that it has doubled. */
  function tell(what) {
    const now = performance.now();
    if (now - since > EVENTS_MS) {
      since = now;
      told = { error: { all: 0, counted: 0 }, more: { all: 0, counted: 0 } };
    }
    const kind = what.kind === 'error' ? 'error' : 'more';
    const those = told[kind];
    those.all += 1;
    const beyond = those.all - EVENTS;
    if (beyond <= 0) {
      send(what).catch(() => {});
    } else if (Number.isInteger(Math.log2(beyond))) {
      send({ kind, count: beyond - those.counted }).catch(() => {});
      those.counted = beyond;
    }
  }

  /**
   * The browser saves links of the same origin, and those created by the page, and navigates to all others.
   */
  function isSaved({ protocol, origin }) {
    return ['blob:', 'data:'].includes(protocol) || origin === location.origin;
  }

  window.addEventListener('click', (event) => {
    if (event.defaultPrevented || performance.now() > armedUntil) return;
    const link = event.composedPath().find((node) => node.localName === 'a' && node.href);
    if (!link || typeof link.href !== 'string') return;
    if (link.hasAttribute('download') && isSaved(link)) {
      tell({ kind: 'file', name: callslipCutText(link.download, URL_CHARS), url: callslipCutText(link.href, URL_CHARS) });
    } else if (link.target === '_blank') {
      tell({ kind: 'link', url: callslipCutText(link.href, URL_CHARS) });
    }
  });

  send({ kind: 'begun' }).then(order).catch(() => {});
})();
