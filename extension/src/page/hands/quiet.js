/* global callslip */
/**
 * Tells for how long nothing has changed in the document and its shadow trees. It keeps no timers
 * that matter: the browser slows those of background tabs down, so the service worker waits.
 */
callslip.quiet = (() => {
  /** Nobody has asked for this long, in ms: the document is left alone. Agents think for a while. */
  const FORGOTTEN_MS = 60_000;

  const WATCHED = { subtree: true, childList: true, attributes: true, characterData: true };

  let changedAt = 0;
  let scrolledAt = 0;
  let observer;
  let root;
  let forget;
  let trees;

  /** Watches the shadow trees in what is there or has just come. */
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

  /** A document that is written anew, by document.open(), loses who watches it. */
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
    /** For how long nothing has changed, in ms; it begins to watch when it is first asked. */
    idle() {
      clearTimeout(forget);
      forget = setTimeout(stop, FORGOTTEN_MS);
      notice();
      return performance.now() - changedAt;
    },

    /** True where it is known that nothing can have moved for so long, in ms. */
    still(ms) {
      if (!observer) return false;
      notice();
      const isRunning = ({ playState }) => playState === 'running';
      return performance.now() - Math.max(changedAt, scrolledAt) >= ms
        && !document.getAnimations().some(isRunning);
    },
  };
})();
