import {
  KEPT_COMMAND_BYTES,
  KEPT_REPORTS_BYTES,
  NAMED_DELIVERIES,
  REMEMBERED_DELIVERIES,
} from './limits.js';

const PREFIX = 'delivery:';
const SINCE = 'deliveries-since';

/**
 * Remembers the state of each delivery, in storage that outlives the service worker and ends with the
 * browser. It keeps a delivery from running twice, and lets a restarted service worker resume the work of
 * its predecessor:
 *
 *     claimed → begun → reported → finished
 *
 * `storage` is a chrome.storage area; it keeps its writes in order. Only `begin` waits for its write,
 * because only the work after it can do harm when repeated. `wallNow` returns the time in ms, the same for
 * every service worker.
 */
export async function openDeliveryJournal(storage, wallNow) {
  const since = await beginning(storage, wallNow);
  const entries = new Map(await storedEntries(storage));
  let sequence = Math.max(0, ...[...entries.values()].map((entry) => entry.sequence));
  const unfinished = [...entries.values()].filter((entry) => entry.state !== 'finished');
  const kept = new Map(unfinished.map(({ id, report }) => [id, report ? bytesOf(report) : 0]));

  function write(entry) {
    entries.set(entry.id, entry);
    return storage.set({ [PREFIX + entry.id]: entry });
  }

  /**
   * For writes that matter only after a restart: without them the command is then reported as interrupted.
   */
  function writeInPassing(entry) {
    write(entry).catch(() => {});
  }

  async function forgetOldest() {
    const surplus = [...entries.keys()].slice(0, entries.size - REMEMBERED_DELIVERIES);
    for (const id of surplus) entries.delete(id);
    await storage.remove(surplus.map((id) => PREFIX + id));
  }

  function bare({ id, correlation_id, sequence: place }, state) {
    return { id, correlation_id, sequence: place, state };
  }

  return {
    /**
     * Returns, once, the deliveries that an earlier service worker did not finish, oldest first: `{id,
     * correlation_id, state, command?, expiresAt?, report?}`.
     */
    takeUnfinished() {
      return unfinished.splice(0);
    },

    /**
     * Returns true for the caller that may run the delivery, false for every later one. `expiresAt` is when
     * its time is over, in ms on the wall clock.
     */
    claim(command, expiresAt) {
      const { id, correlation_id } = command;
      if (entries.has(id)) return false;
      const entry = bare({ id, correlation_id, sequence: ++sequence }, 'claimed');
      const fits = bytesOf(command) <= KEPT_COMMAND_BYTES;
      writeInPassing(fits ? { ...entry, command, expiresAt } : entry);
      return true;
    },

    /** The ids of the latest deliveries in any state, and for how long all have been remembered. */
    known() {
      return { ids: [...entries.keys()].slice(-NAMED_DELIVERIES), forMs: wallNow() - since };
    },

    /** From here on the delivery is never begun again. Rejects if that cannot be written. */
    async begin(id) {
      await write(bare(entries.get(id), 'begun'));
    },

    /** Keeps the final report until `finish`, so that the next service worker can deliver it. */
    keep(report) {
      const { id } = report;
      if (!entries.has(id)) return;
      kept.delete(id);
      const bytes = bytesOf(report);
      const total = [...kept.values()].reduce((sum, each) => sum + each, bytes);
      if (total > KEPT_REPORTS_BYTES) return;
      kept.set(id, bytes);
      writeInPassing({ ...bare(entries.get(id), 'reported'), report });
    },

    /** Marks the delivery as finished, so that later service workers ignore it. */
    async finish(id) {
      kept.delete(id);
      if (!entries.has(id)) return;
      await write(bare(entries.get(id), 'finished'));
      if (entries.size > REMEMBERED_DELIVERIES) await forgetOldest();
    },
  };
}

function bytesOf(value) {
  return new TextEncoder().encode(JSON.stringify(value)).length;
}

async function beginning(storage, wallNow) {
  const { [SINCE]: stored } = await storage.get(SINCE);
  const since = stored ?? wallNow();
  // If that cannot be written, the next service worker knows less, which does no harm.
  if (stored === undefined) await storage.set({ [SINCE]: since }).catch(() => {});
  return since;
}

async function storedEntries(storage) {
  const stored = await storage.get(null);
  return Object.entries(stored)
    .filter(([key]) => key.startsWith(PREFIX))
    .map(([, entry]) => [entry.id, entry])
    .sort(([, a], [, b]) => a.sequence - b.sequence);
}
