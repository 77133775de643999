import { invalidParams, staleRef } from './errors.js';
import { refNumber } from './ref_book.js';

/** Finds the element of a ref, and never another one. */
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

  /**
   * Its document is gone, and with it the record of the element; but an element with the same description
   * may be there again.
   */
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
     * `{frameId, documentId, number}` of the element of a ref, for `callslip.refs.element(number)` in that
     * document. If the element is gone, but there is exactly one that is the same in every respect, these
     * are of that one, and `instead` is its ref. Else it rejects with stale_ref; nothing was done.
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
