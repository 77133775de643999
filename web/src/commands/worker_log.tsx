import type {Json} from '../api/types.ts';
import {JsonTree} from '../ui/json_tree.tsx';
import {Failure} from '../ui/failure.tsx';
import {usePolled} from '../ui/poll.ts';

// A log entry of a worker, such as a line of a page's console.
interface LogEntry {
  kind: string;
  worker: string;
  time: string;
  entry?: Json;
  // Set if the entry is too large to be returned.
  entry_bytes?: number;
}

const everyMs = () => 5_000;

// The latest log entries of a target's workers, newest first.
export function WorkerLog({target}: {target: string}) {
  const {value, error} = usePolled<{entries: LogEntry[]}>(`/worker-log?target=${encodeURIComponent(target)}`, everyMs);
  if (!value) return error === null ? null : <Failure error={error} />;
  return (
    <section>
      <h2>Worker log <span class="count">{value.entries.length}</span></h2>
      {value.entries.length === 0 && <p class="muted">No entries.</p>}
      <ol class="worker-log">
        {value.entries.map(({kind, worker, time, entry, entry_bytes}) => (
          <li key={`${time} ${worker} ${kind}`}>
            <details>
              <summary>
                <time dateTime={time}>{new Date(time).toLocaleTimeString()}</time> {kind.replaceAll('_', ' ')} <span class="muted">{worker}</span>
              </summary>
              {entry === undefined ? <p class="muted">{(entry_bytes ?? 0).toLocaleString('en')} bytes, too large to display.</p>
                : <JsonTree value={entry} label={kind} />}
            </details>
          </li>))}
      </ol>
    </section>);
}
