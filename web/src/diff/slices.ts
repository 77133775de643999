// Milliseconds that work can block the page at a time: less than a frame.
const sliceMs = 12;

export interface Pace {
  now: () => number;
  later: (next: () => void) => void;
}

const page: Pace = {
  now: () => performance.now(),
  later: next => { setTimeout(next, 0); },
};

// Runs work in steps, with a pause whenever a slice is used up. Calls nothing after `abort`; passes errors of the work
// to `fail`.
export function inSlices<T>(
  work: Generator<void, T>, tell: (result: T) => void, abort?: AbortSignal, pace: Pace = page,
  fail?: (error: unknown) => void,
): void {
  const step = () => {
    const end = pace.now() + sliceMs;
    while (!abort?.aborted) {
      let result;
      try {
        result = work.next();
      } catch (error) {
        if (!fail) throw error;
        fail(error);
        return;
      }
      if (result.done) {
        tell(result.value);
        return;
      }
      if (pace.now() >= end) {
        pace.later(step);
        return;
      }
    }
  };
  step();
}
