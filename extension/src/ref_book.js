import { REF_RANGES, REFS_ASIDE, TABS_ASIDE } from './limits.js';

/**
 * The counters of refs, one for each tab, and the numbers of each document. They are in session storage, so
 * that no number is used twice in a tab, even by the next service worker. Session storage is cleared when
 * the extension is reloaded, while its tabs stay; the numbers from which they then continue are in
 * `lasting`, local storage.
 */
export function createRefBook({ storage, lasting, newId }) {
  /** By tab id, a promise of the stored book: changes of one tab are made one after the other. */
  const books = new Map();
  let opened;

  const keyOf = (tabId) => `refs:${tabId}`;

  async function load(tabId) {
    const key = keyOf(tabId);
    const { [key]: book } = await storage.get(key);
    if (book) return book;
    const [, next = 1] = (await aside()).find(([id]) => id === tabId) ?? [];
    return { next, aside: next, ranges: [] };
  }

  /** A list of `[tabId, next]`: the number from which each tab continues, the most recently changed last. */
  async function aside() {
    const { 'refs:aside': kept = [] } = await lasting.get('refs:aside');
    return kept;
  }

  let putAside = Promise.resolve();

  /** Makes one change after the other; `next` is undefined if the tab is closed. */
  function setAside(tabId, next) {
    putAside = putAside.catch(() => {}).then(async () => {
      const others = (await aside()).filter(([id]) => id !== tabId);
      const kept = next === undefined ? others : [...others, [tabId, next]];
      await lasting.set({ 'refs:aside': kept.slice(-TABS_ASIDE) });
    });
    return putAside;
  }

  function change(tabId, work) {
    const before = books.get(tabId) ?? load(tabId);
    const done = before.then(work);
    books.set(tabId, done.then(({ book }) => book, () => load(tabId)));
    return done.then(({ answer }) => answer);
  }

  async function begin() {
    const { 'refs:session': kept } = await storage.get('refs:session');
    if (kept) return kept;
    const id = newId();
    await storage.set({ 'refs:session': id });
    return id;
  }

  return {
    /** A text that stays the same as long as this book is kept. */
    session() {
      opened ??= begin().catch((error) => {
        opened = undefined;
        throw error;
      });
      return opened;
    },

    /** Reserves `count` numbers for a document; resolves to the first of them. */
    take(tabId, count, { frameId, documentId }) {
      return change(tabId, async ({ next, aside: until, ranges }) => {
        const book = { next: next + count, aside: until, ranges: ranges.slice() };
        if (!(book.next <= until)) {
          book.aside = book.next + REFS_ASIDE;
          // The look must not fail for a reserve that matters only when the extension is reloaded.
          await setAside(tabId, book.aside).catch(() => {});
        }
        const last = book.ranges.at(-1);
        if (last?.documentId === documentId) {
          book.ranges[book.ranges.length - 1] = { ...last, end: book.next };
        } else {
          book.ranges.push({ first: next, end: book.next, frameId, documentId });
        }
        book.ranges.splice(0, book.ranges.length - REF_RANGES);
        await storage.set({ [keyOf(tabId)]: book });
        return { book, answer: next };
      });
    },

    /** `{frameId, documentId}` of the document that got this number, or undefined if none is known. */
    frameOf(tabId, number) {
      return change(tabId, (book) => {
        const range = book.ranges.find(({ first, end }) => number >= first && number < end);
        const answer = range && { frameId: range.frameId, documentId: range.documentId };
        return { book, answer };
      });
    },

    /** Resolves to true if the tab has ever used this number. */
    wasGiven(tabId, number) {
      return change(tabId, (book) => ({ book, answer: number > 0 && number < book.next }));
    },

    /** Must be called when a tab is closed: the browser does not reuse its id. */
    async forget(tabId) {
      books.delete(tabId);
      await Promise.all([storage.remove(keyOf(tabId)), setAside(tabId)]);
    },
  };
}

/** The number in `e12`, or undefined if the text is not a ref. */
export function refNumber(text) {
  const [, digits] = /^e([1-9]\d{0,8})$/.exec(text) ?? [];
  return digits && Number(digits);
}
