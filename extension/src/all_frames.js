import { FRAME_PATIENCE_MS, HUNG_FOR_MS } from './limits.js';
import { pause } from './waiting.js';

/** Stands for a document that has not answered at all yet. */
const UNKNOWN = 'unknown';

/**
 * Runs scripts in all frames of a tab. The browser answers only when all frames have answered; if one does
 * not, because a script keeps it busy, the others are asked one by one, and it is skipped for HUNG_FOR_MS.
 * The top frame is waited for in any case: without it there is no page.
 */
export function createAllFrames({ scripting, tabs, now }) {
  /** By tab id, `{documents: Map of documentId to frameId, hung: Map of documentId to when}`. */
  const known = new Map();
  tabs?.onRemoved.addListener((tabId) => known.delete(tabId));

  function noted(tabId, results) {
    const documents = new Map(results.map(({ documentId, frameId }) => [documentId, frameId]));
    known.set(tabId, { documents, hung: new Map() });
    return results;
  }

  function inject(target, injection) {
    return scripting.executeScript({ target, injectImmediately: true, ...injection });
  }

  async function oneByOne(tabId, injection) {
    const { documents, hung } = known.get(tabId) ?? { documents: new Map(), hung: new Map() };
    const top = inject({ tabId, frameIds: [0] }, injection);
    const others = [...documents].filter(([documentId, frameId]) =>
      frameId !== 0 && !(now() - hung.get(documentId) < HUNG_FOR_MS));
    const answers = await Promise.all(others.map(async ([documentId]) => {
      const asked = inject({ tabId, documentIds: [documentId] }, injection).catch(() => []);
      const answer = await Promise.race([asked, pause(FRAME_PATIENCE_MS)]);
      if (!answer) hung.set(documentId, now());
      return answer ?? [];
    }));
    return [...await top, ...answers.flat()];
  }

  function isHung(tabId) {
    const times = [...known.get(tabId)?.hung.values() ?? []];
    return times.some((time) => now() - time < HUNG_FOR_MS);
  }

  /** Resolves to the `executeScript` results of all frames that answer in time. */
  return async function injectInAll(tabId, injection) {
    if (isHung(tabId)) return oneByOne(tabId, injection);
    let done = false;
    const whole = inject({ tabId, allFrames: true }, injection).then((results) => {
      done = true;
      return noted(tabId, results);
    });
    const results = await Promise.race([whole, pause(FRAME_PATIENCE_MS)]);
    if (results) return results;
    whole.catch(() => {});
    const some = await oneByOne(tabId, injection);
    // The hung frame may be one that is not known yet.
    if (!done && !isHung(tabId)) {
      const documents = known.get(tabId)?.documents ?? new Map();
      known.set(tabId, { documents, hung: new Map([[UNKNOWN, now()]]) });
    }
    return some;
  };
}
