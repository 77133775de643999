import { fork } from 'node:child_process';
import { once } from 'node:events';
import { constants, setPriority } from 'node:os';
import { fileURLToPath } from 'node:url';

/** Callers that mean no good, in a process of their own, so that those under test keep theirs. */
export class Strangers {
  #child;

  /** Runs a program of this folder, and waits until it has prepared itself. */
  static async start(program, options) {
    const strangers = new Strangers();
    const path = fileURLToPath(new URL(program, import.meta.url));
    strangers.#child = fork(path, [JSON.stringify(options)]);
    await strangers.#told('ready');
    return strangers;
  }

  begin() {
    this.#child.send('begin');
  }

  /** Has them leave; what they have met, by what they tried: `{"bodies 413": 12}`. */
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

/** The other side of it, for such a program. */
export class Part {
  #met = {};
  #stopped = new AbortController();

  options = JSON.parse(process.argv[2]);

  /** `prepare` is awaited; then each of `attacks` runs until the end, again and again. */
  static async play(prepare, attacks) {
    const part = new Part();
    // They come from elsewhere: what they do costs others nothing but what is done for them.
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
    this.#met[what] = (this.#met[what] ?? 0) + 1;
  }

  async #repeat(attack) {
    while (!this.#stopped.signal.aborted) {
      await attack();
      // Where nothing has to be waited for, others have their turns.
      await new Promise(setImmediate);
    }
  }
}
