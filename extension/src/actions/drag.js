import { createDragGuest } from '../drag_guest.js';
import { pathIn, pointInFrame, pointInTab } from '../frames.js';
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
    if (goal) {
      await targets.act(tab, goal, 'target.show');
      if (goal.documentId !== source.documentId) await showFrame(tab, goal, targets);
      // This may have scrolled the page.
      source = await findPlace(setting);
    }
    const end = await endOf({ to, goal, source, tab, tools });
    const guest = createDragGuest({ tab, source, tools });
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
        const { data: moved } = await call('move', point);
        await guest.follow(point, moved);
      }
      await pause(DRAG_STEP_MS, signal);
      if (signal.aborted) return undefined;
      const { data } = await call('end', await guest.drop());
      isOver = true;
      const refused = data.accepted === false ? '; nothing there took it' : '';
      return { url, data: { done: `${doneTo('dragged', said, source, params.selector)} to ${end.said}${refused}` } };
    } finally {
      // The button must not stay pressed, and the page must get its own pointer capture back.
      if (!isOver) await Promise.all([guest.leave(), call('cancel', capture).catch(() => {})]);
    }
  },
};

/** The points along the path; the end point comes twice, because the elements below may have moved. */
function pointsTo(end, { x, y }) {
  const parts = Array.from({ length: DRAG_STEPS }, (_, number) => (number + 1) / DRAG_STEPS);
  return [...parts, 1].map((part) => ({ x: x + (end.x - x) * part, y: y + (end.y - y) * part }));
}

/** Scrolls the frames around an element so that it can be seen, if possible. */
async function showFrame(tab, target, targets) {
  const { data: middle } = await targets.act(tab, target, 'drag.goal', [{ x: 0, y: 0 }]);
  await targets.throughFrames(tab, target.frameId, middle);
}

/** The end of the path, in pixels of the window of the frame in which it begins. */
async function endOf({ to, goal, source, tab, tools: { frames, targets } }) {
  const { x, y } = source;
  if (to.dx !== undefined) return { x: x + to.dx, y: y + to.dy, said: `${to.dx},${to.dy} from there` };
  const tree = await frames.tree(tab.id);
  const path = pathIn(tree, source.frameId);
  if (!goal) return { ...pointInFrame(path, to), said: `${to.x},${to.y}` };
  const goalPath = pathIn(tree, goal.frameId);
  const start = pointInFrame(goalPath, pointInTab(path, source));
  const { data: { said, ...end } } = await targets.act(tab, goal, 'drag.goal', [start]);
  return { ...pointInFrame(path, pointInTab(goalPath, end)), said };
}

/** If no script can run among the page's own, the page cannot capture the pointer either. */
async function arm(browser, tabId, { documentId, frameId }, capture) {
  const target = documentId ? { tabId, documentIds: [documentId] } : { tabId, frameIds: [frameId] };
  const injection = { target, world: 'MAIN', func: armCapture, args: [capture], injectImmediately: true };
  await browser.scripting.executeScript(injection).catch(() => {});
}
