import { Proxy } from '../../e2e/support/proxy.js';
import { stretched } from '../../support/patience.js';
import { Turns } from './turns.js';

/** Longer than the longest outage in the worst case, in ms. */
const PATIENCE_MS = stretched(120_000);

/** Sessions with turns that continue during the faults of a fleet over a database. */
export class ClusterTurns {
  #closers = [];
  #end = new AbortController();

  static async begin(fleet) {
    const turns = new ClusterTurns();
    // A runner knows one address: here that of a proxy before the trackers.
    const door = await Proxy.start(...fleet.trackerAddresses);
    turns.#closers.push(() => door.stop());
    turns.turns = await Turns.open({
      get gatewayUrl() { return fleet.gatewayUrl(0); },
      tracker: { address: door.address },
      onClose: (close) => turns.#closers.push(close),
    }, { patienceMs: PATIENCE_MS });
    turns.over = turns.turns.keepOn(turns.#end.signal);
    turns.over.catch(() => {});
    return turns;
  }

  /** Lets the current turns end, and judges them. */
  async finish() {
    this.#end.abort();
    await this.over;
    await this.turns.finish();
  }

  /** May be called again. */
  async close() {
    this.#end.abort();
    for (const close of this.#closers.splice(0).reverse()) await close();
  }
}
