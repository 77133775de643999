/* global callslipCutText */
/**
 * Runs in the extension's own world of each frame of a tab in which a command runs: hands what
 * page/main/stand_ins.js tells to the service worker, and asks it at the beginning whether a command
 * runs in this tab at all. As long as one does it also tells of links that were clicked to open a tab
 * or to save a file, for which the browser names no page.
 */
(() => {
  const ORDER = 'callslip-order';
  const TOLD = 'callslip-told';
  /** How much one document may tell in so many ms: more than any that means well has to. */
  const EVENTS = 100;
  const EVENTS_MS = 1_000;
  /** For how long it may tell before it is known whether a command runs, in ms. */
  const UNCONFIRMED_MS = 1_000;
  /** The longest event, and address in it, in UTF-16 units: two texts of 2,000, all of it escaped. */
  const DETAIL_CHARS = 50_000;
  const URL_CHARS = 2_000;

  const send = (what) => chrome.runtime.sendMessage({ ...what, about: 'page' });

  // Another one that is there already says so.
  if (!document.dispatchEvent(new CustomEvent(TOLD, { cancelable: true, detail: '{}' }))) return;

  document.addEventListener(TOLD, (event) => {
    event.preventDefault();
    if (performance.now() > armedUntil || typeof event.detail !== 'string') return;
    let what;
    try {
      what = event.detail.length > DETAIL_CHARS ? { kind: 'more' } : JSON.parse(event.detail);
    } catch {
      return;
    }
    if (what?.kind) tell(what);
  });

  let armedUntil = performance.now() + UNCONFIRMED_MS;
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

  document.addEventListener(ORDER, ({ detail }) => {
    const { ms } = JSON.parse(detail);
    if (ms === undefined) return;
    armedUntil = performance.now() + ms;
  });

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

  send({ kind: 'begun' }).then(({ ms, dialog }) => {
    const detail = JSON.stringify({ ms, dialog });
    document.dispatchEvent(new CustomEvent(ORDER, { cancelable: true, detail }));
  }).catch(() => {});
})();
