import {useEffect, useState} from 'preact/hooks';
import {get} from '../api/http.ts';

export interface Polled<T> {
  // The latest value; kept if later reads fail.
  value: T | null;
  // Why the last read failed; null if it succeeded.
  error: unknown;
}

// Reads `path` repeatedly while the page is visible; `everyMs` returns the delay after each answer. `everyMs` must not
// change.
export function usePolled<T>(path: string, everyMs: (told: T | null) => number): Polled<T> {
  const [polled, setPolled] = useState<Polled<T>>({value: null, error: null});
  useEffect(() => {
    const abort = new AbortController();
    let timer = 0;
    let isReading = false;
    let latest: T | null = null;
    const read = async () => {
      if (isReading || document.visibilityState === 'hidden') return;
      clearTimeout(timer);
      isReading = true;
      try {
        latest = await get<T>(path, abort.signal);
        if (!abort.signal.aborted) setPolled({value: latest, error: null});
      } catch (error) {
        if (!abort.signal.aborted) setPolled(before => ({...before, error}));
      }
      isReading = false;
      if (!abort.signal.aborted) timer = window.setTimeout(() => void read(), everyMs(latest));
    };
    const seen = () => void read();
    document.addEventListener('visibilitychange', seen);
    void read();
    return () => {
      abort.abort();
      clearTimeout(timer);
      document.removeEventListener('visibilitychange', seen);
    };
  }, [path]);
  return polled;
}
