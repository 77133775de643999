/** A working double of a chrome.storage area. Like the browser it stores copies. */
export class FakeStorage {
  values = {};

  async get(keys) {
    const wanted = keys === null ? Object.keys(this.values) : [keys].flat();
    const found = wanted.filter((key) => key in this.values);
    return structuredClone(Object.fromEntries(found.map((key) => [key, this.values[key]])));
  }

  async set(values) {
    Object.assign(this.values, structuredClone(values));
  }

  async remove(keys) {
    for (const key of [keys].flat()) delete this.values[key];
  }
}
