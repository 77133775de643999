/** How many elements that were rendered again are reported individually with their new refs. */
const ANEW = 10;

const REFS = /\be[1-9]\d*\b/g;

/**
 * The lines that differ between two outlines, in page order: `+` for new ones, `-` for removed ones, `~`
 * for changed ones. Lines with a ref are the same line as long as the first ref is the same; others as long
 * as the text is the same. `before` and `after` are the `lines` of outline.js.
 */
export function outlineChanges(before, after) {
  return told(compared(before, after));
}

/** `{sign, line}` in page order; `anew` if only the refs of a line differ. */
function compared(before, after) {
  const taken = new Set();
  const byKey = new Map();
  before.forEach((line, index) => {
    const key = keyOf(line);
    if (!byKey.has(key)) byKey.set(key, []);
    byKey.get(key).push(index);
  });
  const take = (line) => {
    const index = byKey.get(keyOf(line))?.shift();
    if (index !== undefined) taken.add(index);
    return index;
  };
  const matches = after.map((line) => ({ line, index: take(line) }));
  matchDrawnAnew(before, matches, taken);

  // Lines removed between two remaining lines come before new ones at that place.
  const ends = [];
  for (let at = matches.length - 1, end = before.length; at >= 0; at -= 1) {
    end = matches[at].index ?? end;
    ends[at] = end;
  }
  const changes = [];
  let place = 0;
  const gone = (end) => {
    for (; place < end; place += 1) {
      if (!taken.has(place)) changes.push({ sign: '-', line: before[place] });
    }
  };
  for (const [at, { line, index, anew }] of matches.entries()) {
    gone(ends[at]);
    if (index === undefined) changes.push({ sign: '+', line });
    else if (anew || before[index].text !== line.text) changes.push({ sign: '~', line, anew });
  }
  gone(before.length);
  return changes;
}

function keyOf({ refs, text }) {
  return refs.length > 0 ? `ref ${refs[0]}` : `text ${text}`;
}

/** Lines that differ only in their refs are the earlier lines in new elements. */
function matchDrawnAnew(before, matches, taken) {
  const same = ({ text }) => text.replace(REFS, 'e');
  const left = new Map();
  before.forEach((line, index) => {
    if (taken.has(index) || line.refs.length === 0) return;
    const key = same(line);
    if (!left.has(key)) left.set(key, []);
    left.get(key).push(index);
  });
  for (const match of matches) {
    if (match.index !== undefined || match.line.refs.length === 0) continue;
    const index = left.get(same(match.line))?.shift();
    if (index === undefined) continue;
    taken.add(index);
    Object.assign(match, { index, anew: true });
  }
}

function told(changes) {
  const anew = changes.filter((change) => change.anew).length;
  const shown = anew > ANEW ? changes.filter((change) => !change.anew) : changes;
  const lines = [];
  const alone = (index) => shown[index - 1]?.sign !== shown[index].sign;
  for (let index = 0; index < shown.length; index += 1) {
    const { sign, line } = shown[index];
    const next = shown[index + 1];
    if (sign === '-' && alone(index) && next && isRewording(line, next)
        && shown[index + 2]?.sign !== '+') {
      lines.push(`~ ${next.line.text}`);
      index += 1;
      continue;
    }
    lines.push(`${sign} ${' '.repeat(indent(shown, index))}${line.text}`);
  }
  if (anew > ANEW) lines.push(`~ ${anew} lines are there anew, with other refs`);
  return lines;
}

/** A text that replaces another at the same place is the same line with other words. */
function isRewording(line, { sign, line: other }) {
  const isText = ({ refs, kind, depth }) =>
    refs.length === 0 && kind === line.kind && depth === line.depth;
  return sign === '+' && isText(line) && isText(other);
}

/** The lines of a run of added or removed lines keep their relative indentation. */
function indent(shown, index) {
  const { sign, line: { depth } } = shown[index];
  let least = depth;
  for (let at = index; at >= 0 && shown[at].sign === sign; at -= 1) {
    least = Math.min(least, shown[at].line.depth);
  }
  return sign === '~' ? 0 : depth - least;
}
