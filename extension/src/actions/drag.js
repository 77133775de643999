import { invalidParams } from '../errors.js';
import { DRAG_STEP_MS, DRAG_STEPS } from '../limits.js';
import { armCapture } from '../page/main/pointer_capture.js';
import { requireNonEmptyText } from '../params.js';
import { pause } from '../waiting.js';
import { checkPlace, doneTo, findPlace } from './click.js';

const POINT = /^\s*([+-]?)(\d+(?:\.\d+)?)\s*,\s*([+-]?\d+(?:\.\d+)?)\s*$/;

/**
 * Parses the end of a drag, text such as `e12`, `300,120`, `+0,-40`: `{selector}`, `{x, y}` in the window,
 * or `{dx, dy}` from its start. A distance is recognized by its sign.
 */
export function placeOf(text) {
  const [, sign, first, second] = POINT.exec(text) ?? [];
  if (first === undefined) return { selector: text };
  const [one, other] = [Number(sign + first), Number(second)];
  return sign || /^[+-]/.test(second) ? { dx: one, dy: other } : { x: one, y: other };
}

/** Drags an element, or the element at a point, to another place. */
export const drag = {
  reported: true,

  check(params) {
    checkPlace(params);
    requireNonEmptyText(params, 'to');
  },

  async run(setting) {
    const { tab, params, tools, signal, endsAt } = setting;
    const { browser, newId, pageParts, targets } = tools;
    const to = placeOf(params.to);
    let source = await findPlace(setting);
    const goal = to.selector === undefined ? undefined
      : await targets.find({ tab, selector: to.selector, need: { need: 'see' }, signal, endsAt });
    if (goal && goal.documentId !== source.documentId) {
      throw invalidParams('to', 'must be in the same frame as what is dragged');
    }
    if (goal) {
      await targets.act(tab, goal, 'target.show');
      // This may have scrolled the page.
      source = await findPlace(setting);
    }
    const end = await endOf({ to, goal, source, tab, targets });
    const capture = `callslip-${newId()}`;
    const place = { frameId: source.frameId, documentId: source.documentId };
    const call = (method, argument) => pageParts.call(tab.id, place, `drag.${method}`, [argument]);
    let isOver = false;
    try {
      await arm(browser, tab.id, source, capture);
      const { x, y } = source;
      const { data: { said }, url } = await targets.act(tab, source, 'drag.begin', [{ x, y, capture }]);
      for (const point of pointsTo(end, source)) {
        await pause(DRAG_STEP_MS, signal);
        if (signal.aborted) return undefined;
        await call('move', point);
      }
      await pause(DRAG_STEP_MS, signal);
      if (signal.aborted) return undefined;
      const { data } = await call('end');
      isOver = true;
      const refused = data.accepted === false ? '; nothing there took it' : '';
      return { url, data: { done: `${doneTo('dragged', said, source, params.selector)} to ${end.said}${refused}` } };
    } finally {
      // The button must not stay pressed, and the page must get its own pointer capture back.
      if (!isOver) await call('cancel', capture).catch(() => {});
    }
  },
};

/** The points along the path; the end point comes twice, because the elements below may have moved. */
function pointsTo(end, { x, y }) {
  const parts = Array.from({ length: DRAG_STEPS }, (_, number) => (number + 1) / DRAG_STEPS);
  return [...parts, 1].map((part) => ({ x: x + (end.x - x) * part, y: y + (end.y - y) * part }));
}

/** The end of the path, in pixels of the window of the frame in which it begins. */
async function endOf({ to, goal, source, tab, targets }) {
  const { x, y } = source;
  if (goal) return (await targets.act(tab, goal, 'drag.goal', [{ x, y }])).data;
  if (to.dx !== undefined) return { x: x + to.dx, y: y + to.dy, said: `${to.dx},${to.dy} from there` };
  const { left, top } = await targets.offset({ tab, target: source });
  return { x: to.x - left, y: to.y - top, said: `${to.x},${to.y}` };
}

/** If no script can run among the page's own, the page cannot capture the pointer either. */
async function arm(browser, tabId, { documentId, frameId }, capture) {
  const target = documentId ? { tabId, documentIds: [documentId] } : { tabId, frameIds: [frameId] };
  const injection = { target, world: 'MAIN', func: armCapture, args: [capture], injectImmediately: true };
  await browser.scripting.executeScript(injection).catch(() => {});
}
