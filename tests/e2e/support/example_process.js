import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';

const FOLDER = fileURLToPath(new URL('../../../examples/grpc-js/', import.meta.url));
const PACKAGES = new URL('./example_packages.js', import.meta.url).href;

const running = new Set();

// A test process that ends early must leave nothing behind.
process.on('exit', () => {
  for (const { child } of running) child.kill('SIGKILL');
});

/** One of the unchanged programs of examples/grpc-js. */
export class ExampleProcess {
  output = '';

  /** `environment` extends that of the test. */
  constructor(program, args, environment = {}) {
    this.child = spawn(process.execPath, ['--import', PACKAGES, `${FOLDER}${program}`, ...args], {
      env: { ...process.env, ...environment },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    running.add(this);
    for (const stream of [this.child.stdout, this.child.stderr]) {
      stream.setEncoding('utf8').on('data', (text) => { this.output += text; });
    }
    this.exited = once(this.child, 'close').then(([code]) => {
      running.delete(this);
      return code;
    });
  }

  /** Waits until the output matches. */
  async prints(pattern) {
    const ended = this.exited.then((code) => {
      throw new Error(`It ended with ${code} and never printed ${pattern}:\n${this.output}`);
    });
    ended.catch(() => {});
    while (!pattern.test(this.output)) await Promise.race([once(this.child.stdout, 'data'), ended]);
  }

  async kill() {
    this.child.kill('SIGKILL');
    await this.exited;
  }
}
