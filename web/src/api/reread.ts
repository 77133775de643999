import {ApiError} from './http.ts';

// Milliseconds until a failed read is retried, unless the error states a time.
const firstWaitMs = 500;
const maxWaitMs = 10_000;

// Reads data again whenever it may have changed, one read at a time, so that none overtakes another: a request during a
// read causes one more read. Retries failed reads where that makes sense. A stopped read has no effect, provided that
// `read` applies nothing after `abort`.
export class Reread {
  private abort: AbortController | null = null;
  private isWanted = false;
  private timer = 0;
  private waitMs = firstWaitMs;

  constructor(private readonly read: (abort: AbortSignal) => Promise<void>, private readonly onError: (error: unknown) => void) {}

  ask(): void {
    if (this.abort || this.timer) this.isWanted = true;
    else void this.run();
  }

  // Reads immediately, without waiting for an earlier read, which may hang.
  anew(): void {
    this.stop();
    void this.run();
  }

  stop(): void {
    clearTimeout(this.timer);
    this.abort?.abort();
    this.abort = null;
    this.timer = 0;
    this.isWanted = false;
  }

  private async run(): Promise<void> {
    const {signal} = (this.abort = new AbortController());
    this.isWanted = false;
    let failure: unknown = null;
    try {
      await this.read(signal);
      this.waitMs = firstWaitMs;
    } catch (error) {
      failure = error;
    }
    if (signal.aborted) return;
    this.abort = null;
    if (failure !== null) this.fail(failure);
    else if (this.isWanted) void this.run();
  }

  private fail(error: unknown): void {
    this.onError(error);
    const {status = 0, retryAfterMs = 0} = error instanceof ApiError ? error : {};
    if (status >= 400 && status < 500 && status !== 429) return;
    this.timer = window.setTimeout(() => {
      this.timer = 0;
      void this.run();
    }, retryAfterMs || this.waitMs);
    this.waitMs = Math.min(this.waitMs * 2, maxWaitMs);
  }
}
