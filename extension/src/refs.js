import { invalidParams, staleRef } from './errors.js';
import { refNumber } from './ref_book.js';

/** Finds what a ref stands for, and never anything else. */
export function createRefs({ pageParts, refBook, outline }) {
  async function inPlace(tab, ref, place) {
    const number = refNumber(ref);
    try {
      const { data } = await pageParts.call(tab.id, place, 'refs.lives', [number]);
      return data;
    } catch (error) {
      if (error.code === 'frame_gone') throw await gone(tab, ref);
      throw error;
    }
  }

  /** Its document is gone, and with it what was known of it; but what it said may be there again. */
  async function gone(tab, ref) {
    const was = outline.told(tab.id, ref);
    if (!was) return staleRef({ ref });
    const { lines, url } = await outline(tab);
    const candidates = lines.flatMap(({ refs }) => refs)
      .filter((each) => outline.told(tab.id, each) === was)
      .map((each) => `${each} ${was}`);
    return staleRef({ ref, was, candidates: candidates.slice(0, 5), url });
  }

  return {
    /**
     * `{frameId, documentId, number}` of the element of a ref, for `callslip.refs.element(number)` in
     * that document. Where the element has gone, but exactly one is there that is the same in all,
     * it is that one's, and `instead` its ref. Else it rejects with stale_ref; nothing was done.
     */
    async resolve(tab, ref) {
      const number = refNumber(ref);
      if (!number) throw invalidParams('selector', `${ref} is no ref; they look like e12`);
      const place = await refBook.frameOf(tab.id, number);
      if (!place) throw await gone(tab, ref);
      if (await inPlace(tab, ref, place)) return { ...place, number };
      const { url } = await outline(tab);
      const { data } = await pageParts.call(tab.id, place, 'refs.instead', [number]);
      const { was, only, candidates } = data;
      if (only) return { ...place, number: only, instead: `e${only}` };
      throw staleRef({ ref, was, candidates, url });
    },
  };
}
