import { CommandError, pageNavigated } from './errors.js';
import { pathIn } from './frames.js';
import { STABLE_LOOK_MS, TARGET_LOOK_MS, TARGET_PATIENCE_MS } from './limits.js';
import { refNumber } from './ref_book.js';
import { pause } from './waiting.js';

/**
 * Finds the element of an action, by its ref or by CSS, in any frame and shadow tree, and waits until the
 * action can be carried out on it: until it exists, is visible, stands still, is enabled, and is not
 * covered. `guard(url)` rejects for pages, also in frames, in which no action is allowed.
 */
export function createTargets({ pageParts, frames, refs, outline, guard, now }) {
  /** The one element of a tab that matches CSS: `{frameId, documentId, key}`, or `{problem}`. */
  async function byCss(tab, selector) {
    const answers = await pageParts.callAll(tab.id, 'target.search', [selector]);
    if (answers[0]) await guard(answers[0].url);
    const [wrong] = answers.filter(({ error }) => error);
    if (wrong && answers.every(({ error }) => error)) {
      throw new CommandError({ ...wrong.error, url: wrong.url });
    }
    const holding = answers.filter(({ result }) => result?.found > 0);
    const seen = holding.filter(({ result }) => result.shown > 0);
    const shown = seen.reduce((sum, { result }) => sum + result.shown, 0);
    if (shown > 1) {
      const lines = seen.flatMap(({ result }) => result.lines).slice(0, 5);
      return { problem: severalMatch(selector, shown, lines), final: true };
    }
    const [one] = seen.length > 0 ? seen : holding;
    if (!one) return { problem: notFound(selector) };
    const place = { frameId: one.frameId, documentId: one.documentId, key: one.result.key };
    const hidden = holding.reduce((sum, { result }) => sum + result.found, 0);
    if (seen.length > 0 || hidden === 1) return place;
    const lines = holding.flatMap(({ result }) => result.lines).slice(0, 5);
    // Most actions need a visible element, and report why none is; some work without.
    return { ...place, unclear: severalMatch(selector, hidden, lines, { areSeen: false }) };
  }

  async function byRef(tab, ref) {
    const { number, instead, ...place } = await refs.resolve(tab, ref);
    const { data: key } = await pageParts.call(tab.id, place, 'target.ofRef', [number]);
    return { ...place, key, instead };
  }

  /**
   * What covers a point of a frame from outside the frame: `{cover}`, or `{gone}`; else `{}`. Scrolls the
   * frames around it if necessary.
   */
  async function throughFrames(tab, frameId, point) {
    if (frameId === 0) return {};
    const path = pathIn(await frames.tree(tab.id), frameId);
    let { x, y } = point;
    for (const { parent, owner } of path.slice(1).reverse()) {
      const args = [owner.key, { x, y }];
      const { data } = await pageParts.call(tab.id, { frameId: parent }, 'hitTest.through', args);
      if (data.gone || data.cover) return data;
      ({ x, y } = data);
    }
    return {};
  }

  async function look(tab, target, need) {
    const { data, url } = await pageParts.call(tab.id, target, 'target.look', [target.key, need]);
    // The page may have been replaced while the action waited for its element.
    await guard(url);
    if (data.problem || need.need !== 'mouse' || need.force) return data;
    const { cover } = await throughFrames(tab, target.frameId, data);
    if (!cover) return data;
    const problem = {
      code: 'element_covered',
      message: `The frame of ${data.said} is covered by ${cover}.`,
      mayHaveExecuted: false,
    };
    return { problem };
  }

  /** Problems that name elements use refs, which are assigned when the page is looked at. */
  async function withRefs(tab, problem, again) {
    if (!['several_match', 'element_covered'].includes(problem.code)) return problem;
    await outline(tab).catch(() => {});
    const { problem: told } = await again().catch(() => ({}));
    return told?.code === problem.code ? told : problem;
  }

  /**
   * `{frameId, documentId, key, x, y, said, instead}` of the element, once it is ready. `need` is described
   * in page/hands/target.js. `x` and `y` are in the window of its frame. Else it rejects with the obstacle
   * at the end of the wait, 3 s or the time of the command; nothing was done then.
   */
  async function find({ tab, selector, need = {}, signal, endsAt = Infinity }) {
    const number = refNumber(selector);
    const until = Math.min(now() + TARGET_PATIENCE_MS, endsAt);
    const attempt = async () => {
      const target = number ? await byRef(tab, selector) : await byCss(tab, selector);
      return target.problem ? target : { ...target, ...await look(tab, target, need) };
    };
    for (;;) {
      let found = await patiently(attempt, tab);
      if (found.ready && need.need === 'mouse' && found.moved) {
        await pause(STABLE_LOOK_MS, signal);
        found = { ...found, ...await patiently(() => look(tab, found, need)) };
        if (found.ready && found.moved) found = { problem: moving(found.said) };
      }
      if (found.ready && found.unclear) found = { problem: found.unclear, final: true };
      if (signal?.aborted) throw new CommandError(found.problem ?? moving(found.said));
      if (found.ready) return found;
      if (found.final || now() >= until) {
        const { url } = tab;
        throw new CommandError({ url, ...await withRefs(tab, found.problem, attempt) });
      }
      await pause(TARGET_LOOK_MS, signal);
    }
  }

  /** A page that is replaced during the look is looked at again. */
  async function patiently(attempt) {
    try {
      return await attempt();
    } catch (error) {
      if (!['page_navigated', 'frame_gone', 'element_not_found'].includes(error.code)) throw error;
      const { code, message, hint } = error;
      return { problem: { code, message, hint, mayHaveExecuted: false } };
    }
  }

  /** The innermost element at a point of the window: `{frameId, documentId, key, x, y, said}`. */
  async function at({ tab, x, y }) {
    const tree = await frames.tree(tab.id);
    let place = { frameId: 0, documentId: tree[0]?.documentId };
    let point = { x, y };
    for (;;) {
      const args = [point.x, point.y];
      const { data, url } = await pageParts.call(tab.id, place, 'hitTest.atPoint', args);
      await guard(url);
      if (!data.key) throw outside(x, y, tab.url);
      const inner = data.frame && tree.find(({ parent, owner }) =>
        parent === place.frameId && owner.key === data.frame);
      if (!inner) return { ...place, key: data.key, ...point, said: data.said ?? 'a frame' };
      place = { frameId: inner.frameId, documentId: inner.documentId };
      point = { x: data.x, y: data.y };
    }
  }

  /** The frame that has the focus: `{frameId, documentId, key: null}`. */
  async function focused({ tab }) {
    const tree = await frames.tree(tab.id);
    let at = tree[0];
    for (;;) {
      const { frameId, documentId } = at ?? { frameId: 0 };
      const place = { frameId, documentId };
      const { data, url } = await pageParts.call(tab.id, place, 'keys.place', []);
      await guard(url);
      at = data.frame && tree.find(({ parent, owner }) => parent === frameId && owner.key === data.frame);
      if (!at) return { ...place, key: null };
    }
  }

  return {
    find,
    at,
    focused,
    throughFrames,

    /** Calls a method of a part with the element, `(key, …args)`; its page may be replaced by that. */
    async act(tab, target, path, args = [], { leaves = true } = {}) {
      try {
        const { data, url } = await pageParts.call(tab.id, target, path, [target.key, ...args]);
        return { data, url };
      } catch (error) {
        if (!leaves || error.code !== 'frame_gone') throw error;
        throw pageNavigated();
      }
    },
  };
}

function notFound(selector) {
  return {
    code: 'element_not_found',
    message: `No element matches ${selector}.`,
    hint: 'analyze page shows what is there, with refs; query finds elements by text.',
    mayHaveExecuted: false,
  };
}

function severalMatch(selector, count, lines, { areSeen = true } = {}) {
  const elements = areSeen ? 'elements that can be seen' : 'elements, none of which can be seen,';
  return {
    code: 'several_match',
    message: `${count} ${elements} match ${selector}: ${lines.join('; ')}`,
    hint: 'Name one by its ref, or by a selector that matches it alone.',
    mayHaveExecuted: false,
  };
}

function moving(said) {
  return {
    code: 'element_covered',
    message: `${said ?? 'The element'} does not stand still.`,
    hint: 'Wait until its animation has ended; how: force clicks anyway.',
    mayHaveExecuted: false,
  };
}

function outside(x, y, url) {
  return new CommandError({
    code: 'element_not_found',
    message: `Nothing is at ${x},${y}: the point is outside of the window.`,
    mayHaveExecuted: false,
    url,
  });
}
