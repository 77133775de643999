import {useEffect, useState} from 'preact/hooks';
import {get} from '../api/http.ts';

export interface Polled<T> {
  // What came last; stays while what follows it fails.
  value: T | null;
  // Why it could not be read just now; null where it could.
  error: unknown;
}

// Reads `path` anew while the page is in sight, as long after each answer as `everyMs` says of it.
// `everyMs` is not to change.
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
