/* global callslip */
/**
 * Runs in each frame of a page. Commands that type, press or fill in do so in steps, between which the
 * page has its turn. One at a time does: the next that begins ends the one before, which nobody waits for
 * any more.
 */
callslip.turns = (() => {
  /** Holds the turn of now: no element has such a name, and parts that are installed anew see it, too. */
  const CURRENT = Symbol.for('callslip.turn');

  /** The page is kept busy for so long at a time, in ms. */
  const BUSY_MS = 50;

  /** The browser tells of a selection in the next task; so long is waited for that, in ms, and so often in vain. */
  const SELECTION_MS = 100;
  const SELECTIONS_MISSED = 3;

  /** Resolves once the page has had its turn. Timers would be slow in a tab that is not in front. */
  function settled() {
    return new Promise((resolve) => {
      const { port1, port2 } = new MessageChannel();
      port1.onmessage = () => {
        port1.close();
        resolve();
      };
      port2.postMessage(null);
    });
  }

  /** The ends of the selection, also of one in the shadow tree of an element. */
  function selectionAt(element) {
    const root = element.getRootNode();
    const selection = root instanceof ShadowRoot && root.getSelection ? root.getSelection() : getSelection();
    const { anchorNode, anchorOffset, focusNode, focusOffset } = selection;
    return [anchorNode, anchorOffset, focusNode, focusOffset];
  }

  /**
   * Begins a turn that ends after `leftMs`, or as another begins. `far()` says how far it has come. What
   * selects or writes is given to its `step`.
   */
  function begin(leftMs, far) {
    const turn = {};
    const endsAt = performance.now() + leftMs;
    let pausedAt = performance.now();
    let missed = 0;
    globalThis[CURRENT] = turn;

    function check() {
      const isLate = performance.now() >= endsAt;
      if (!isLate && globalThis[CURRENT] === turn) return;
      throw new callslip.Failure({
        code: isLate ? 'execution_timeout' : 'execution_failed',
        message: `${isLate ? 'The time of the command was over' : 'Another command began, or this one was cancelled,'} when ${far()}.`,
        mayHaveExecuted: true,
      });
    }

    /** Acts in an editor, and resolves once the selection after that has been told of. */
    async function actAndTell(element, act) {
      let hear;
      const heard = new Promise((resolve) => { hear = () => resolve(true); });
      addEventListener('selectionchange', hear, { capture: true });
      try {
        const before = selectionAt(element);
        act();
        await settled();
        const isOther = selectionAt(element).some((each, at) => each !== before[at]);
        if (!isOther || missed >= SELECTIONS_MISSED) return;
        const late = new Promise((resolve) => { setTimeout(resolve, SELECTION_MS, false); });
        if (!await Promise.race([heard, late])) missed += 1;
      } finally {
        removeEventListener('selectionchange', hear, { capture: true });
      }
    }

    /**
     * Acts on an element. Where that is an editor, resolves once the editor has heard of it: many keep a
     * selection and a text of their own, which follow those of the document, and what came sooner would go
     * where the caret was before. After the last step nothing is waited for: the page may go away by that.
     */
    async function step(element, act, { isLast = false } = {}) {
      check();
      if (element.isContentEditable && !isLast) await actAndTell(element, act);
      else act();
      if (isLast || (!element.isContentEditable && performance.now() - pausedAt < BUSY_MS)) return;
      await settled();
      pausedAt = performance.now();
    }

    return { step };
  }

  /** Ends the turn of now, if there is one. */
  function end() {
    globalThis[CURRENT] = undefined;
  }

  return { begin, end, settled };
})();
