/** Random choices that a seed repeats: the generator mulberry32. */
export class Random {
  #state;

  constructor(seed) {
    this.seed = seed;
    this.#state = seed >>> 0;
  }

  /** A number from 0 to 1, without 1. */
  next() {
    this.#state = (this.#state + 0x6d2b79f5) >>> 0;
    let mixed = this.#state;
    mixed = Math.imul(mixed ^ (mixed >>> 15), mixed | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  }

  /** An integer from `from` up to, without, `to`. */
  between(from, to) {
    return from + Math.floor(this.next() * (to - from));
  }

  chance(probability) {
    return this.next() < probability;
  }

  pick(list) {
    return list[this.between(0, list.length)];
  }
}
