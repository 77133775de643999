import { LIST_ITEMS } from './limits.js';

/**
 * Chooses the lines of an outline to show when not all fit, and omits the least important first: items of
 * long lists, text below the window, landmarks out of the window, then the lines furthest below the window,
 * and above it. Elements in the window that can be acted on are omitted last of all.
 *
 * `lines` are those of outline.js. Returns lines in which each run of omitted lines is one line. With
 * `inOrder` only the end is omitted, for a caller that continues reading from there.
 */
export function fit(lines, limit, { inOrder = false } = {}) {
  const cut = new Cut(lines, limit);
  if (inOrder) {
    if (cut.over > 0) cut.end();
    return cut.rest();
  }
  if (cut.over > 0) cut.longLists();
  if (cut.over > 0) cut.textBelow();
  if (cut.over > 0) cut.landmarks();
  if (cut.over > 0) cut.furthest();
  return cut.rest();
}

/** The cost of a line: its characters, where non-Latin ones count as their number of bytes. */
export function costOf({ depth, text }) {
  let beyond = 0;
  for (let at = 0; at < text.length; at += 1) {
    const unit = text.charCodeAt(at);
    if (unit >= 0x2e80) beyond += 2;
    else if (unit >= 0x370) beyond += 1;
  }
  return depth + text.length + beyond + 1;
}

/** The cost of the line that stands for a run of omitted lines. */
const MARK_COST = 40;

/** Kinds of lines that exist only for their content. */
const HOLDERS = new Set(['landmark', 'main', 'group', 'note']);

class Cut {
  constructor(lines, limit) {
    this.lines = lines;
    this.costs = lines.map(costOf);
    this.gone = new Array(lines.length).fill(null);
    this.over = this.costs.reduce((sum, cost) => sum + cost, 0) - limit;
  }

  drop(index, what) {
    if (this.gone[index]) return;
    const follows = this.gone[index - 1] || this.gone[index + 1];
    this.gone[index] = { what };
    this.over += (follows ? 0 : MARK_COST) - this.costs[index];
  }

  /** The items of lists beyond the first LIST_ITEMS and out of the window, from the end. */
  longLists() {
    const firsts = new Map();
    for (const { list, item } of this.lines) {
      if (list !== undefined && !firsts.has(list)) firsts.set(list, item);
    }
    for (let index = this.lines.length - 1; index >= 0 && this.over > 0; index -= 1) {
      const { list, item, where } = this.lines[index];
      if (list === undefined || item - firsts.get(list) < LIST_ITEMS || where === 0) continue;
      this.drop(index, 'items');
    }
  }

  textBelow() {
    for (let index = this.lines.length - 1; index >= 0 && this.over > 0; index -= 1) {
      const { refs, where, kind } = this.lines[index];
      if (refs.length > 0 || where <= 0 || kind !== 'text') continue;
      if (this.gone[index + 1] || this.costs[index] > MARK_COST) this.drop(index, 'lines');
    }
  }

  /** Landmarks without content in the window become one line, the last first. */
  landmarks() {
    for (let index = this.lines.length - 1; index >= 0 && this.over > 0; index -= 1) {
      if (this.lines[index].kind !== 'landmark' || this.gone[index]) continue;
      const end = this.endOf(index);
      const held = this.lines.slice(index + 1, end);
      if (held.length < 3 || held.some(({ where, kind }) => where === 0 && !HOLDERS.has(kind))) continue;
      const refs = held.reduce((sum, line) => sum + line.refs.length, 0);
      const what = `… ${refs} refs`;
      for (let at = index + 1; at < end; at += 1) this.drop(at, what);
      this.gone[index + 1].landmark = index;
    }
  }

  /** Whole stretches: below the window from its end, above it, then the end of the window itself. */
  furthest() {
    const inWindow = ({ where, kind }) => where === 0 && !HOLDERS.has(kind);
    const last = this.lines.findLastIndex(inWindow);
    const first = this.lines.findIndex(inWindow);
    for (let index = this.lines.length - 1; index > last && this.over > 0; index -= 1) {
      if (!this.isCollapsed(index)) this.drop(index, 'lines');
    }
    const around = new Set(holdersOf(this.lines, first).map(({ place }) => place));
    for (let index = 0; index < first && this.over > 0; index += 1) {
      if (!around.has(index) && !this.isCollapsed(index)) this.drop(index, 'lines');
    }
    for (let index = last; index > first && this.over > 0; index -= 1) {
      if (this.lines[index].refs.length === 0 && this.costs[index] > MARK_COST) this.drop(index, 'lines');
    }
    this.end();
  }

  isCollapsed(index) {
    return this.gone[index + 1]?.landmark === index;
  }

  /** All excess lines, from the end. */
  end() {
    for (let index = this.lines.length - 1; index > 0 && this.over > 0; index -= 1) {
      this.drop(index, 'lines');
    }
  }

  endOf(index) {
    const { depth } = this.lines[index];
    let end = index + 1;
    while (end < this.lines.length && this.lines[end].depth > depth) end += 1;
    return end;
  }

  /** The remaining lines, without empty holders. */
  rest() {
    const shown = [];
    let run = [];
    let lastRef;
    const settle = () => {
      const mark = markOf(run, lastRef);
      if (mark) shown.push(mark);
      run = [];
    };
    for (const [index, line] of this.lines.entries()) {
      const gone = this.gone[index];
      if (gone?.landmark !== undefined && !this.gone[gone.landmark]) {
        settle();
        const holder = shown.at(-1);
        const how = lastRef ? `: page {after: ${lastRef}}` : '';
        shown[shown.length - 1] = { ...holder, text: `${holder.text} ${gone.what}${how}`, closed: true };
      }
      if (gone) {
        run.push({ ...gone, line });
      } else {
        settle();
        shown.push(line);
        lastRef = line.refs.at(-1) ?? lastRef;
      }
    }
    settle();
    return withoutEmpty(shown);
  }
}

/** The line that stands for a run of omitted lines; null if its landmark already indicates them. */
function markOf(run, lastRef) {
  const told = run.filter(({ what }) => !what.startsWith('… '));
  if (told.length === 0) return null;
  const areItems = told.every(({ what }) => what === 'items');
  const count = areItems ? new Set(told.map(({ line }) => line.item)).size : told.length;
  const what = `${count} ${areItems ? 'item' : 'line'}${count === 1 ? '' : 's'} more`;
  const how = lastRef ? `page {after: ${lastRef}}` : 'page {limit: 60000}, or find';
  const depth = Math.min(...told.map(({ line }) => line.depth));
  return { depth, text: `… ${what}: ${how}`, refs: [], kind: 'more' };
}

/** Removes landmarks and groups that have become empty. */
function withoutEmpty(lines) {
  const kept = [];
  for (let index = lines.length - 1; index >= 0; index -= 1) {
    const line = lines[index];
    const holds = kept.length > 0 && kept.at(-1).depth > line.depth;
    const isHolder = HOLDERS.has(line.kind) && line.refs.length === 0;
    if (!isHolder || holds || line.closed) kept.push(line);
  }
  return kept.reverse();
}

/** The lines that contain the line at that place, the outermost first, each with its own `place`. */
export function holdersOf(lines, place) {
  const holders = [];
  let depth = lines[place]?.depth ?? 0;
  for (let index = place - 1; index >= 0 && depth > 0; index -= 1) {
    if (lines[index].depth >= depth) continue;
    holders.unshift({ ...lines[index], list: undefined, place: index });
    ({ depth } = lines[index]);
  }
  return holders;
}
