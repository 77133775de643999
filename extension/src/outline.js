import { CommandError, invalidParams, staleRef } from './errors.js';
import { gatewayPage } from './gateway_page.js';
import { PAGE_LINES, PAGE_LINES_CHARS } from './limits.js';
import { fit, holdersOf } from './outline_budget.js';
import { arrange } from './frames.js';
import { refNumber } from './ref_book.js';
import { cutText } from './text.js';
import { toldAddress } from './told_page.js';

/** How many tabs have their last outline remembered, for the descriptions of refs. */
const TOLD_TABS = 5;

/** The text that can follow role and name in a line. */
const BEHIND_NAME = / \[| = | placeholder | of | \| |\]| e\d+ [a-z]/;

/** The address of a link, in the view that has them; only the IP address of a host has brackets. */
const ADDRESS = / → ((?:https?:\/\/\[[^\s\]]*\])?[^\s\]]+)/g;

const WAITING = /\u0001(\d+)\u0002/g;

/**
 * The outline of a tab: the content of its frames, a line for each item, with refs for those that can be
 * acted on. `isOff(url)` returns, or resolves to, whether the content of a page must not be reported.
 */
export function createOutline({ pageParts, refBook, isOff = () => false }) {
  /** The lines of the tabs that were looked at last, used by `told`. */
  const latest = new Map();

  function remember(tabId, lines) {
    latest.delete(tabId);
    latest.set(tabId, lines);
    if (latest.size > TOLD_TABS) latest.delete(latest.keys().next().value);
  }

  /** Assigns numbers to the elements of a frame that have none, and puts all refs into its lines. */
  async function numbered(tabId, { frameId, documentId, result }, view) {
    const { needs, mark } = result;
    let first = 0;
    if (needs > 0) {
      first = await refBook.take(tabId, needs, { frameId, documentId });
      const place = { frameId, documentId };
      const { data } = await pageParts.call(tabId, place, 'refs.settle', [mark, first]);
      // Another look at the frame has come in between; its elements may have numbers now.
      if (!data) return null;
    }
    const fill = (text) => text.replace(WAITING, (_, place) => `e${first + Number(place)}`);
    return JSON.parse(result.lines).map((line) => ({
      ...line, text: told(fill(line.text), view), refs: line.refs.map(fill), frameId, documentId,
    }));
  }

  function told(text, view) {
    return view === 'urls' ? text.replace(ADDRESS, (_, url) => ` → ${toldAddress(url)}`) : text;
  }

  async function withoutOff(looks) {
    const told = [];
    for (const each of looks) {
      const off = await isOff(each.url);
      if (off && each.frameId === 0) throw gatewayPage(each.url);
      if (!off) told.push(each);
    }
    return told;
  }

  async function look(tabId, options, tries = 3) {
    const looks = await withoutOff(await pageParts.callAll(tabId, 'outline.look', [options]));
    const top = looks[0];
    if (top?.error && top.frameId === 0) throw new CommandError({ ...top.error, url: top.url });
    const frames = looks.filter(({ result }) => result);
    const tree = arrange(frames.map((each) => ({ ...each, result: each.result.frame })));
    // Frames without a place are in elements that are not visible.
    const placed = new Set(tree.filter(({ parent, frameId }) => parent !== null || frameId === 0)
      .map(({ frameId }) => frameId));
    const written = new Map();
    for (const frame of frames.filter(({ frameId }) => placed.has(frameId))) {
      const lines = await numbered(tabId, frame, options.view).catch((error) => {
        if (frame.frameId === 0) throw error;
        return [];
      });
      if (lines === null && tries > 1) return look(tabId, options, tries - 1);
      written.set(frame.frameId, lines ?? []);
    }
    return { frames, tree, written };
  }

  /** The lines of all frames, each frame's below the line of its element. */
  function joined({ frames, tree, written }) {
    const within = new Map();
    for (const { frameId, parent, owner, url } of tree) {
      if (parent !== null) within.set(`${parent} ${owner.key}`, { frameId, url });
    }
    const lines = [];
    const put = (frameId, url, outer) => {
      for (const line of written.get(frameId) ?? []) {
        if (lines.length >= PAGE_LINES) return;
        const own = {
          ...line,
          depth: line.depth + outer.depth,
          where: outer.where === 0 ? line.where : outer.where,
          inside: line.inside || outer.inside,
          list: line.list && `${frameId} ${line.list}`,
        };
        if (outer.list) Object.assign(own, { list: outer.list, item: outer.item });
        const child = line.frame && within.get(`${frameId} ${line.frame}`);
        if (child && own.text) own.text += placeOf(child.url, url);
        if (own.text) lines.push(own);
        if (child) put(child.frameId, child.url, { ...own, depth: own.depth + (own.text ? 1 : 0) });
      }
    };
    const top = frames.find(({ frameId }) => frameId === 0) ?? frames[0];
    put(top.frameId, top.url, { depth: 0, where: 0, inside: false });
    return { lines, top };
  }

  /**
   * `{title, url, lines, text}`. `lines` are all lines, `{depth, text, refs, kind, where, frameId,
   * documentId}`; `text` is what fits into `limit`, below a line with address, title and, if lines are
   * omitted, their total number. `view` is all, interactive, text or urls; with `after` it begins after the
   * line of that ref; with `selector`, a ref or CSS, it contains only what is in there.
   */
  async function outline(tab, { view, after, limit = PAGE_LINES_CHARS, selector } = {}) {
    const options = { view: view ?? 'all' };
    const ref = refNumber(selector ?? '');
    if (ref) options.ref = ref;
    else if (selector !== undefined && selector !== null) options.selector = selector;
    const seen = await look(tab.id, options);
    const { lines: all, top } = joined(seen);
    remember(tab.id, all);
    const { title } = top.result;
    let lines = all;
    if (options.ref || options.selector) {
      const found = seen.frames.reduce((sum, { result }) => sum + result.found, 0);
      if (found === 0 && ref) throw staleRef({ ref: selector, url: top.url });
      if (found === 0) throw nothingFound(selector, top.url);
      lines = narrowed(all);
    }
    const inOrder = after !== undefined && after !== null;
    const from = inOrder ? following(lines, after) : lines;
    const place = `${cutText(toldAddress(top.url), 300)}${title ? ` · ${title}` : ''}`;
    const count = ` · ${all.length} lines`;
    const shown = fit(from, limit - place.length - count.length, { inOrder });
    const isWhole = shown.length === all.length && shown.every(({ kind }) => kind !== 'more');
    const head = isWhole ? place : place + count;
    return { title, url: top.url, lines, text: [head, ...shown.map(asText(view))].join('\n') };
  }

  /** The last reported description of a ref, such as `button Save`, if this service worker has one. */
  outline.told = (tabId, ref) => {
    const line = latest.get(tabId)?.find(({ refs }) => refs.includes(ref));
    const [, rest] = line ? new RegExp(`${ref} (.*)`).exec(line.text) : [];
    return rest?.split(BEHIND_NAME)[0];
  };

  return outline;
}

export function asText(view) {
  return ({ depth, text }) => (view === 'text' ? text : ' '.repeat(depth) + text);
}

/** The origin of a frame's document, if it differs from that of the frame around it. */
function placeOf(url, around) {
  try {
    const { host, protocol } = new URL(url);
    if (host && host !== new URL(around).host) return ` (${host})`;
    return protocol === 'data:' ? ' (data:)' : '';
  } catch {
    return '';
  }
}

/** The lines inside the selection, moved to the left. */
function narrowed(all) {
  const inside = all.filter((line) => line.inside);
  const least = inside.reduce((depth, line) => Math.min(depth, line.depth), Infinity);
  return inside.map((line) => ({ ...line, depth: line.depth - least }));
}

/** The lines after that of a ref, below the lines that contain it. */
function following(lines, after) {
  const place = lines.findIndex(({ refs }) => refs.includes(after));
  if (place < 0) {
    throw invalidParams('after', `${after} is not in this outline; leave it out to begin at the top`);
  }
  const rest = lines.slice(place + 1);
  return [...holdersOf(lines, place + 1), ...rest];
}

function nothingFound(selector, url) {
  return new CommandError({
    code: 'element_not_found',
    message: `No element matches ${selector}.`,
    hint: 'analyze page shows what is there, with refs.',
    mayHaveExecuted: false,
    url,
  });
}
