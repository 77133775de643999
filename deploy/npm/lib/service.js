import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';

/** A program that writes `listening on ADDRESS` to its stderr. */
export class Service {
  #addresses = [];
  #looked = () => {};

  /** Calls `log` with each line of the program's stderr. */
  constructor(path, args, log) {
    this.child = spawn(path, args, { stdio: ['ignore', 'inherit', 'pipe'] });
    this.hasEnded = false;
    const lines = createInterface({ input: this.child.stderr });
    lines.on('line', (line) => {
      log(line);
      const [, address] = line.match(/^listening on (.*)/) ?? [];
      if (address) this.#addresses.push(address);
      this.#looked();
    });
    this.ended = new Promise((resolve) => {
      const end = () => {
        this.hasEnded = true;
        this.#looked();
        resolve();
      };
      // `close` comes after the program's last lines were read.
      this.child.once('close', end);
      this.child.once('error', (error) => {
        log(error.message);
        end();
      });
    });
  }

  /** Waits for `count` addresses and returns the first; undefined if the program ends before. */
  async address(count = 1) {
    while (this.#addresses.length < count && !this.hasEnded) {
      await new Promise((resolve) => { this.#looked = resolve; });
    }
    return this.#addresses.length < count ? undefined : this.#addresses[0];
  }
}
