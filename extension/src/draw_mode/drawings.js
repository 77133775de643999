import { DRAWINGS_KEPT, DRAWINGS_STORED_CHARS } from '../limits.js';

const PREFIX = 'drawing:';

/** True for the keys under which drawings are stored. */
export function isDrawingKey(key) {
  return key.startsWith(PREFIX);
}

/**
 * The drawings that are in progress or not yet posted, in storage that outlives the service worker and ends
 * with the browser. `storage` is a chrome.storage area.
 *
 * A drawing is `{id, tabId, state, url, title, message, session, correlationIds, annotations, viewport,
 * left, error, pictures}`. Its `state` is `drawing` until the person has pressed Done, `finishing` while
 * its pictures are taken, `sending` until the gateway has accepted it, and `refused` if the gateway has
 * rejected it. `left` is true if its page was left before Done was pressed.
 */
export async function openDrawings(storage) {
  const stored = await storage.get(null);
  const drawings = new Map(
    Object.entries(stored)
      .filter(([key]) => isDrawingKey(key))
      .map(([, drawing]) => [drawing.id, drawing])
      .sort(([, a], [, b]) => a.sequence - b.sequence),
  );
  let sequence = Math.max(0, ...[...drawings.values()].map((drawing) => drawing.sequence));

  const charsOf = (drawing) => JSON.stringify(drawing).length;
  const sizes = new Map([...drawings].map(([id, drawing]) => [id, charsOf(drawing)]));

  /** Pictures that do not fit are lost when the service worker stops; nothing else is. */
  async function keep(drawing) {
    const { id } = drawing;
    sizes.delete(id);
    const others = [...sizes.values()].reduce((sum, size) => sum + size, 0);
    const fits = others + charsOf(drawing) <= DRAWINGS_STORED_CHARS;
    const stored = fits ? drawing : { ...drawing, pictures: undefined };
    sizes.set(id, charsOf(stored));
    await storage.set({ [PREFIX + id]: stored });
  }

  async function remove(id) {
    drawings.delete(id);
    sizes.delete(id);
    await storage.remove(PREFIX + id);
  }

  return {
    all: () => [...drawings.values()],

    get: (id) => drawings.get(id),

    /** The drawing that a person is making in the tab. */
    underWayIn(tabId) {
      return [...drawings.values()].findLast(
        (drawing) => drawing.tabId === tabId && drawing.state === 'drawing',
      );
    },

    async add(fields) {
      const drawing = { state: 'drawing', annotations: [], ...fields, sequence: ++sequence };
      drawings.set(drawing.id, drawing);
      const idle = this.all().filter(({ left, state }) => left || state === 'refused');
      if (drawings.size > DRAWINGS_KEPT && idle.length > 0) await remove(idle[0].id);
      await keep(drawing);
      return drawing;
    },

    /** Changes fields of a drawing if it still exists, and stores it. */
    async change(id, fields) {
      const drawing = drawings.get(id);
      if (!drawing) return undefined;
      Object.assign(drawing, fields);
      await keep(drawing);
      return drawing;
    },

    remove,
  };
}
