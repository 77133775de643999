/* global callslipCutText */
/**
 * Runs in the extension's own world of each frame of a tab in which a command runs: hands what
 * page/main/stand_ins.js tells to the service worker, and asks it at the beginning whether a command
 * runs in this tab at all. As long as one does it also tells of links that were clicked to open a tab
 * or to save a file, for which the browser names no page.
 *
 * The stand-ins begin by saying what name they have given to the events between the two; this is heard
 * until one has said so, and no longer than it takes. So a page in whose tab no command runs finds
 * nobody who listens. `callslipRelay.order({ms, dialog})` has them stand in for so long, and answers
 * whether they are there; `wait()` lets new ones come.
 */
(() => {
  // An element of the page may have the name, too: that is no property of the global object's own.
  if (Object.hasOwn(globalThis, 'callslipRelay')) return globalThis.callslipRelay.wait();

  const HERE = 'callslip-here';
  /** How much one document may tell in so many ms: more than any that means well has to. */
  const EVENTS = 100;
  const EVENTS_MS = 1_000;
  /** For how long they stand in before it is known whether a command runs, in ms. */
  const UNCONFIRMED_MS = 1_000;
  /** The longest event as JSON, and address in it, in UTF-16 units: two texts of 2,000, all of it escaped. */
  const DETAIL_CHARS = 50_000;
  const URL_CHARS = 2_000;

  const send = (what) => chrome.runtime.sendMessage({ ...what, about: 'page' });

  /** The name of the events; undefined as long as no stand-ins are there. */
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
      // No stand-in tells what cannot be JSON.
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

  /** Both are as if they had never been there. */
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

  /** What was told since a time, of errors and of all else: how much there was, and how much was counted. */
  let since = -Infinity;
  let told;

  /** Of what is too much only the number is told, each time when it has doubled. */
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

  /** The browser saves what is of the same site, or made by the page, and goes to anything else. */
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
