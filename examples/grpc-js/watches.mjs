/** Waiting for any number of commands over one WatchCommands stream. */
import { Backoff, TrackerError } from './tracker.mjs';

/**
 * The watches of one service. The stream is opened with the first of them; when it breaks, it is
 * opened again with those that are not over.
 */
export class Watches {
  #client;
  #stream;
  #reopening;
  #backoff = new Backoff();
  #lastWatchId = 0;
  /** By watch_id, which is a string here as all 64-bit numbers are. */
  #watches = new Map();

  constructor(client) {
    this.#client = client;
  }

  /** Resolves with the commands, in the order of their ids, once all of them have ended. */
  async all(commandIds) {
    return this.#whileWatching(commandIds, (ends) => Promise.all(ends));
  }

  /** Resolves with the first command that ends; the others are not watched any longer. */
  async any(commandIds) {
    return this.#whileWatching(commandIds, (ends) => Promise.race(ends));
  }

  close() {
    clearTimeout(this.#reopening);
    this.#watches.clear();
    // Half-closed and without watches, the stream ends by itself.
    this.#stream?.end();
  }

  async #whileWatching(commandIds, wait) {
    const watches = commandIds.map((commandId) => this.#watch(commandId));
    try {
      return await wait(watches.map(({ end }) => end));
    } finally {
      this.#remove(watches.map(({ watchId }) => watchId));
    }
  }

  #watch(commandId) {
    const watchId = String(++this.#lastWatchId);
    const end = new Promise((resolve, reject) => {
      this.#watches.set(watchId, { commandId, resolve, reject });
    });
    if (this.#stream !== undefined) this.#add(watchId);
    else if (this.#reopening === undefined) this.#open();
    return { watchId, end };
  }

  #add(watchId) {
    const { commandId } = this.#watches.get(watchId);
    const watch = { watch_id: watchId, command_id: commandId };
    this.#stream.write({ add: [{ ...watch, only_end: true }] });
  }

  #remove(watchIds) {
    const remove = watchIds.filter((watchId) => this.#watches.delete(watchId));
    if (remove.length > 0) this.#stream?.write({ remove });
  }

  #open() {
    this.#reopening = undefined;
    this.#stream = this.#client.WatchCommands();
    this.#stream.on('data', ({ updates }) => {
      this.#backoff.reset();
      for (const update of updates) this.#take(update);
    });
    // The status says the same, and also comes when the stream ends in order.
    this.#stream.on('error', () => {});
    this.#stream.on('status', () => this.#reopenLater());
    for (const watchId of this.#watches.keys()) this.#add(watchId);
  }

  #reopenLater() {
    this.#stream = undefined;
    if (this.#watches.size === 0) return;
    this.#reopening = setTimeout(() => this.#open(), this.#backoff.next());
  }

  #take({ watch_id: watchId, command, error }) {
    const watch = this.#watches.get(watchId);
    // The last update of a tracker that shuts down has neither: the next stream goes on from there.
    if (watch === undefined || !(command || error)) return;
    this.#watches.delete(watchId);
    if (error) watch.reject(new TrackerError(error));
    else watch.resolve(command);
  }
}
