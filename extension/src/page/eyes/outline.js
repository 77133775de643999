/* global callslip */
/**
 * The outline of this frame: its content, a line for each item. It changes nothing in the page, and keeps
 * only the numbers and descriptions of elements.
 */
callslip.outline = (() => {
  const { NAME_CHARS } = callslip.acts;
  const { cut, start } = callslip.guard;
  const { MANY_CHILDREN } = callslip.walk;

  /**
   * An outline this short, in characters, is never shortened, so the positions of its lines do not matter.
   */
  const FITS_CHARS = 400;

  const LOADING_MS = 3_000;
  const FRAME_LOADING_MS = 500;

  /** Marks that this document has been waited for, as in ../still_parsed.js. */
  const WAITED = Symbol.for('callslip.waited');

  function rootsOf({ selector, ref }) {
    if (ref !== undefined) {
      const element = callslip.refs.element(ref);
      return element ? [element] : [];
    }
    try {
      return callslip.shadow.queryAll(selector);
    } catch {
      throw new callslip.Failure({
        code: 'invalid_params',
        message: 'selector: must be a ref such as e12, or a valid CSS selector',
      });
    }
  }

  /** The position of a line: -1 above the window, 0 in it, 1 below. */
  function whereOf(element) {
    if (!element?.isConnected) return 1;
    const { top, bottom, left, right } = element.getBoundingClientRect();
    if (bottom < 0) return -1;
    if (top > innerHeight) return 1;
    return right < 0 || left > innerWidth ? 1 : 0;
  }

  /** `{list, item}` of the outermost long list; short lists do not count. */
  function placesInLists(lines) {
    const ids = new Map();
    return lines.map(({ lists }) => {
      const long = lists.find(({ list }) => list.count > MANY_CHILDREN);
      if (!long) return {};
      if (!ids.has(long.list)) ids.set(long.list, ids.size + 1);
      return { list: ids.get(long.list), item: long.item };
    });
  }

  /**
   * `{title, frame, lines, needs, mark, found}`. `lines` is a list as JSON, which is transferred faster
   * than the list itself. Each line is `{depth, text, refs, kind, frame, inside, where, list, item}`;
   * `\u0001N\u0002` stands for the N-th ref that has no number yet, of which there are `needs`: see
   * `refs.settle`. With `selector` or `ref`, the lines inside it are marked.
   */
  async function look(options) {
    if (document.readyState === 'loading' && !globalThis[WAITED]) await parsed();
    return callslip.names.withStyles(() => written(options ?? {}));
  }

  /** Waits for a document that is still being parsed, for a limited time, and only once. */
  async function parsed() {
    // A document that its page has opened again may never end.
    if (performance.getEntriesByType('navigation')[0]?.domContentLoadedEventEnd > 0) return;
    await new Promise((resolve) => {
      document.addEventListener('DOMContentLoaded', resolve, { once: true });
      setTimeout(resolve, window === window.top ? LOADING_MS : FRAME_LOADING_MS);
    });
    globalThis[WAITED] = true;
  }

  function written({ view, selector, ref }) {
    const narrowed = selector !== undefined || ref !== undefined;
    const roots = narrowed ? rootsOf({ selector, ref }) : [];
    callslip.reading.begin();
    const mark = callslip.refs.begin();
    const walk = new callslip.walk.Walk({ view, roots: new Set(roots) });
    const top = document.body ?? document.documentElement;
    if (top) walk.visit(top, { cursor: 'auto', element: top, level: 0 });
    walk.lines.end();
    const { lines } = walk.lines;
    const inLists = placesInLists(lines);
    const places = lines.reduce((sum, { text }) => sum + text.length, 0) > FITS_CHARS;
    const answer = lines.map(({ depth, text, refs, kind, element, frame, inside }, index) => ({
      depth, text, refs, kind, frame, inside,
      where: places ? whereOf(element) : 0,
      ...inLists[index],
    }));
    if (callslip.refs.waiting() === 0) callslip.refs.count();
    return {
      title: start(cut(callslip.names.clean(document.title), NAME_CHARS)),
      frame: callslip.frame_path.look(walk.owners),
      lines: JSON.stringify(answer),
      needs: callslip.refs.waiting(),
      mark,
      found: roots.length,
    };
  }

  return { look };
})();
