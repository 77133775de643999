import { fork } from 'node:child_process';
import { once } from 'node:events';
import { constants, setPriority } from 'node:os';
import { fileURLToPath } from 'node:url';

/** Hostile callers, in a process of their own, so that they take no time of this one. */
export class Strangers {
  #child;
  #met = new Set();

  /** Runs a program of this folder, and waits until it is prepared. */
  static async start(program, options) {
    const strangers = new Strangers();
    const path = fileURLToPath(new URL(program, import.meta.url));
    strangers.#child = fork(path, [JSON.stringify(options)]);
    strangers.#child.on('message', ({ what, outcome }) => {
      if (what === 'met') strangers.#met.add(outcome);
    });
    await strangers.#told('ready');
    return strangers;
  }

  begin() {
    this.#child.send('begin');
  }

  /** Waits until an attack has had this outcome. */
  async meet(outcome) {
    while (!this.#met.has(outcome)) await this.#told('met');
  }

  /** Ends them; returns the outcomes of their attacks: `{"bodies 413": 12}`. */
  async stop() {
    if (this.#child.exitCode !== null) throw new Error('The strangers have ended by themselves.');
    this.#child.send('stop');
    const { met } = await this.#told('left');
    await once(this.#child, 'exit');
    return met;
  }

  kill() {
    this.#child.kill('SIGKILL');
  }

  async #told(what) {
    const ended = once(this.#child, 'exit').then(() => { throw new Error('The strangers ended.'); });
    ended.catch(() => {});
    for (;;) {
      const [message] = await Promise.race([once(this.#child, 'message'), ended]);
      if (message.what === what) return message;
    }
  }
}

/** The part of such a program in its own process. */
export class Part {
  #met = {};
  #stopped = new AbortController();

  options = JSON.parse(process.argv[2]);

  /** Awaits `prepare`; then repeats each of `attacks` until the end. */
  static async play(prepare, attacks) {
    const part = new Part();
    // Real strangers run on other machines: lower their priority, so that they cost only the
    // servers' work.
    setPriority(constants.priority.PRIORITY_BELOW_NORMAL);
    process.once('disconnect', () => process.exit(1));
    await prepare(part);
    process.send({ what: 'ready' });
    await once(process, 'message');
    const ended = once(process, 'message');
    for (const attack of attacks(part)) part.#repeat(attack);
    await ended;
    part.#stopped.abort();
    await new Promise((sent) => { process.send({ what: 'left', met: part.#met }, sent); });
    process.exit(0);
  }

  note(what) {
    if (!(what in this.#met)) process.send({ what: 'met', outcome: what });
    this.#met[what] = (this.#met[what] ?? 0) + 1;
  }

  async #repeat(attack) {
    while (!this.#stopped.signal.aborted) {
      await attack();
      // An attack that waits for nothing lets the others run.
      await new Promise(setImmediate);
    }
  }
}
