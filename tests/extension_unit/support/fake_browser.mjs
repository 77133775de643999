/** A double of the browser's API that finds tabs and watches them. */
export class FakeBrowser {
  reloaded = [];

  constructor(open) {
    this.open = open;
    this.windows = { getLastFocused: async () => this.#lastFocused() };
    this.tabs = {
      get: async (id) => this.#named(id),
      query: async ({ active, windowId }) =>
        this.open.filter((tab) => tab.active === active && tab.windowId === windowId),
      reload: async (id) => { this.reloaded.push(id); },
      onRemoved: new FakeEvent(),
      onUpdated: new FakeEvent(),
    };
  }

  #lastFocused() {
    if (this.open.length === 0) throw new Error('No last-focused window');
    return { id: this.open[0].windowId };
  }

  #named(id) {
    const found = this.open.find((tab) => tab.id === id);
    if (!found) throw new Error(`No tab with id: ${id}.`);
    return found;
  }
}

/** One event of the browser; `listeners` has its listeners. */
export class FakeEvent {
  listeners = new Set();

  addListener(listener) {
    this.listeners.add(listener);
  }

  removeListener(listener) {
    this.listeners.delete(listener);
  }

  fire(...details) {
    for (const listener of this.listeners) listener(...details);
  }
}
