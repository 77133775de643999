import { FOUND_CHARS, FOUND_LINES, FOUND_LINES_MOST, PAGE_LINES_CHARS } from '../limits.js';
import { asText } from '../outline.js';
import { fit, holdersOf } from '../outline_budget.js';
import { optionalInteger, optionalNonEmptyText, requireNonEmptyText } from '../params.js';

/** Finds the lines of the outline that contain a text, and shows their containers. */
export const find = {
  readsOnly: true,

  check(params) {
    requireNonEmptyText(params, 'text');
    optionalInteger(params, 'limit', { least: 1, most: FOUND_LINES_MOST });
    optionalNonEmptyText(params, 'selector');
  },

  async run({ tab, params: { text, limit: most, selector }, tools }) {
    const { url, lines } = await tools.outline(tab, { selector: selector ?? undefined });
    const places = placesOf(lines, text);
    const shown = places.slice(0, most ?? FOUND_LINES);
    const head = `${places.length} of ${lines.length} lines contain ${JSON.stringify(text)}`
      + `${shown.length < places.length ? `; the first ${shown.length}` : ''}`;
    const limit = PAGE_LINES_CHARS - head.length;
    const found = fit(withHolders(lines, shown, text), limit, { inOrder: true });
    return { url, data: { page: [head, ...found.map(asText())].join('\n') } };
  },
};

const normal = (text) => text.replace(/\s+/g, ' ').trim().toLowerCase();

function placesOf(lines, text) {
  const wanted = normal(text);
  return lines.flatMap((line, place) => (normal(line.text).includes(wanted) ? [place] : []));
}

/** The part of a long line around the text, with whole words and whole brackets. */
export function excerpt(line, text) {
  if (line.length <= FOUND_CHARS) return line;
  const at = Math.max(0, line.toLowerCase().indexOf(normal(text)));
  let from = line.lastIndexOf(' ', at - FOUND_CHARS / 3) + 1;
  let end = line.indexOf(' ', at + (FOUND_CHARS * 2) / 3);
  if (at <= FOUND_CHARS / 3) from = 0;
  if (end < 0) end = line.length;
  const opened = line.lastIndexOf('[', from);
  if (opened > line.lastIndexOf(']', from)) from = opened;
  const closed = line.indexOf(']', end);
  const next = line.indexOf('[', end);
  if (closed >= 0 && (next < 0 || closed < next)) end = closed + 1;
  return `${from > 0 ? '… ' : ''}${line.slice(from, end)}${end < line.length ? ' …' : ''}`;
}

/** The lines at the places, each below its containers, without repetitions. */
function withHolders(lines, places, text) {
  const said = new Set();
  return places.flatMap((place) => {
    const holders = holdersOf(lines, place).filter(({ text: holder, depth }) => {
      const key = `${depth} ${holder}`;
      return !said.has(key) && said.add(key);
    });
    const { text: whole, ...line } = lines[place];
    return [...holders, { ...line, text: line.kind === 'row' ? whole : excerpt(whole, text) }];
  });
}
