/* global callslip */
/**
 * Measures for how long nothing has changed in the document and its shadow trees. It needs no precise
 * timers, which the browser slows down in background tabs: the service worker waits.
 */
callslip.quiet = (() => {
  /** The observation ends when it was not used for this long, in ms. Agents think for a while. */
  const FORGOTTEN_MS = 60_000;

  const WATCHED = { subtree: true, childList: true, attributes: true, characterData: true };

  let changedAt = 0;
  let scrolledAt = 0;
  let observer;
  let root;
  let forget;
  let trees;

  /** Observes the shadow trees in an existing or new node. */
  function watchTreesIn(top) {
    const walker = document.createTreeWalker(top, NodeFilter.SHOW_ELEMENT);
    for (let node = top; node; node = walker.nextNode()) {
      const tree = node.nodeType === Node.ELEMENT_NODE && callslip.shadow.rootOf(node);
      if (!tree || trees.has(tree)) continue;
      trees.add(tree);
      observer.observe(tree, WATCHED);
      watchTreesIn(tree);
    }
  }

  function changed(records) {
    changedAt = performance.now();
    for (const { addedNodes } of records) {
      for (const node of addedNodes) {
        if (node.nodeType === Node.ELEMENT_NODE && node.isConnected) watchTreesIn(node);
      }
    }
  }

  function scrolled() {
    scrolledAt = performance.now();
  }

  function stop() {
    observer?.disconnect();
    observer = undefined;
    removeEventListener('scroll', scrolled, { capture: true });
  }

  /** A document that is rewritten by document.open() loses its observers. */
  function begin() {
    root = document.documentElement;
    changedAt = performance.now();
    observer ??= new MutationObserver(changed);
    trees = new WeakSet();
    observer.observe(document, WATCHED);
    watchTreesIn(document);
    scrolled();
    addEventListener('scroll', scrolled, { capture: true, passive: true });
  }

  function notice() {
    if (!observer || document.documentElement !== root) begin();
    const records = observer.takeRecords();
    if (records.length > 0) changed(records);
  }

  return {
    /** For how long nothing has changed, in ms; the first call begins the observation. */
    idle() {
      clearTimeout(forget);
      forget = setTimeout(stop, FORGOTTEN_MS);
      notice();
      return performance.now() - changedAt;
    },

    /** True if nothing can have moved for this long, in ms, as far as is known. */
    still(ms) {
      if (!observer) return false;
      notice();
      const isRunning = ({ playState }) => playState === 'running';
      return performance.now() - Math.max(changedAt, scrolledAt) >= ms
        && !document.getAnimations().some(isRunning);
    },
  };
})();
