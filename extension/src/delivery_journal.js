import { REMEMBERED_DELIVERIES } from './limits.js';

const PREFIX = 'delivery:';

/**
 * Remembers which deliveries were begun and which were finished, in storage that outlives the
 * service worker and ends with the browser. It is what keeps a delivery from running twice, and
 * what tells a restarted service worker which commands its predecessor left unfinished.
 *
 * `storage` is a chrome.storage area. An entry is written before its command runs.
 */
export async function openDeliveryJournal(storage) {
  const entries = new Map(await storedEntries(storage));
  let sequence = Math.max(0, ...[...entries.values()].map((entry) => entry.sequence));
  const unfinished = [...entries.values()].filter((entry) => !entry.finished);

  async function forgetOldest() {
    const surplus = [...entries.keys()].slice(0, entries.size - REMEMBERED_DELIVERIES);
    for (const id of surplus) entries.delete(id);
    await storage.remove(surplus.map((id) => PREFIX + id));
  }

  return {
    /** Hands over, once, the deliveries that an earlier service worker began and did not finish. */
    takeUnfinished() {
      return unfinished.splice(0);
    },

    /** True for the caller that may run the delivery; false for everyone after it. */
    async claim({ id, correlation_id }) {
      if (entries.has(id)) return false;
      const entry = { id, correlation_id, sequence: ++sequence, finished: false };
      entries.set(id, entry);
      await storage.set({ [PREFIX + id]: entry });
      return true;
    },

    /** Marks the delivery as dealt with, so that no later service worker reports it again. */
    async finish(id) {
      const entry = entries.get(id);
      if (!entry) return;
      entry.finished = true;
      await storage.set({ [PREFIX + id]: entry });
      if (entries.size > REMEMBERED_DELIVERIES) await forgetOldest();
    },
  };
}

async function storedEntries(storage) {
  const stored = await storage.get(null);
  return Object.entries(stored)
    .filter(([key]) => key.startsWith(PREFIX))
    .map(([, entry]) => [entry.id, entry])
    .sort(([, a], [, b]) => a.sequence - b.sequence);
}
