/* global callslip */
/**
 * Runs in each frame of a page. Commands that type, press or fill in work in steps, and the page runs its
 * own code between them. Only one such command runs at a time: the next one ends the previous one, which
 * nothing waits for any more.
 */
callslip.turns = (() => {
  /** Holds the current turn: no element has such a name, and parts that are installed again see it too. */
  const CURRENT = Symbol.for('callslip.turn');

  /** The longest time that the page is kept busy without a break, in ms. */
  const BUSY_MS = 50;

  /**
   * The browser fires selectionchange in the next task; how long to wait for that, in ms, and after how
   * many misses to stop waiting.
   */
  const SELECTION_MS = 100;
  const SELECTIONS_MISSED = 3;

  /** How long to wait for the next frame, in ms. */
  const FRAME_MS = 50;

  /** Resolves once the page has run its tasks. Timers would be slow in a background tab. */
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

  /**
   * Resolves once the page has drawn a frame. A background tab draws none, and neither may a window behind
   * others.
   */
  async function drawn() {
    if (document.visibilityState !== 'visible') return;
    await new Promise((resolve) => {
      requestAnimationFrame(resolve);
      setTimeout(resolve, FRAME_MS);
    });
    await settled();
  }

  /** The ends of the selection, also if it is in the shadow tree of an element. */
  function selectionAt(element) {
    const root = element.getRootNode();
    const selection = root instanceof ShadowRoot && root.getSelection ? root.getSelection() : getSelection();
    const { anchorNode, anchorOffset, focusNode, focusOffset } = selection;
    return [anchorNode, anchorOffset, focusNode, focusOffset];
  }

  /**
   * Begins a turn that ends after `leftMs`, or when another one begins. `far()` describes the progress.
   * Actions that select or write must run in its `step`.
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

    /** Acts in an editor, and resolves once the page has been notified of the resulting selection. */
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
     * Acts on an element. If that is an editor, resolves once the editor has been notified: many have a
     * selection and a text of their own, which follow those of the document, and an earlier action would
     * apply to the previous caret position. If `isDrawn`, it also waits for the next frame, in which some
     * editors apply a change of their lines. After the last step there is no wait, because the page may
     * navigate away.
     */
    async function step(element, act, { isLast = false, isDrawn = false } = {}) {
      check();
      if (element.isContentEditable && !isLast) {
        await actAndTell(element, act);
        if (isDrawn) await drawn();
      } else {
        act();
      }
      if (isLast || (!element.isContentEditable && performance.now() - pausedAt < BUSY_MS)) return;
      await settled();
      pausedAt = performance.now();
    }

    return { step };
  }

  /** Ends the current turn, if there is one. */
  function end() {
    globalThis[CURRENT] = undefined;
  }

  return { begin, end, settled };
})();
