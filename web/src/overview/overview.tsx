// The page /ui/overview: whether the gateway is ready or why not, and its current load.
import type {ComponentChildren} from 'preact';
import {useEffect, useState} from 'preact/hooks';
import {me} from '../api/http.ts';
import {ReconnectingSocket, type SocketState, whileVisible} from '../api/socket.ts';
import {lasted} from '../commands/timeline.ts';
import {Boundary, Failure} from '../ui/failure.tsx';
import {usePolled} from '../ui/poll.ts';
import {failedShare, inUnit, type History, type HistorySample} from './history.ts';
import {LastMinutes} from './last_minutes.tsx';
import {Needs} from './needs.tsx';
import {rated, rateOf, sized, withSample, type Sample, type Stats} from './series.ts';

// The result of observe {what: "health"}.
export interface Health {
  ready: boolean;
  reasons: string[];
  gateway: {version: string; uptime_s: number};
  tracker?: {
    version: string;
    uptime_s: number;
    commands: Record<string, number>;
    queue: {depth: number; longest: number; oldest_ms?: number};
    workers: {connected: number; known: number};
    waits: number;
    failed: number;
    late_results: number;
    payload_bytes: number;
    sessions: number;
    storage: {events: number; failures: number};
  };
}

// The meaning of a reason, and what to do.
const reasonWords: Record<string, string> = {
  no_worker: 'No worker is connected. Open the browser with the extension and turn the extension on, or start the runner.',
  tracker_unreachable: 'The gateway cannot reach the tracker. Waiting commands continue once it is back; see /readyz.',
  draining: 'The tracker is shutting down and accepts no new commands.',
  storage_failed: 'The tracker could not write to storage. Check its disk and its log.',
};

const healthEveryMs = () => 5_000;
const historyEveryMs = () => 10_000;

export function OverviewPage() {
  return (
    <div class="overview page">
      <header class="page-head"><h1>Overview</h1></header>
      {/* A client sees only its own data. */}
      {me.value?.role === 'client' ? <Needs /> : <Everything />}
    </div>);
}

function Everything() {
  const {value: health, error} = usePolled<Health>('/health', healthEveryMs);
  const history = usePolled<History>('/stats/history', historyEveryMs);
  const [samples, feed] = useStats();
  return (
    <>
      {error !== null && <Failure error={error} />}
      {health && <Readiness health={health} />}
      <Boundary what="The attention list"><Needs /></Boundary>
      {health && <Tiles health={health} samples={samples} past={history.error === null ? history.value?.samples ?? [] : []} />}
      {(health?.tracker || history.value) && <Boundary what="The history"><LastMinutes {...history} /></Boundary>}
      {health && <Versions health={health} feed={feed} />}
    </>);
}

// The latest statistics, received while the page is visible.
function useStats(): [readonly Sample[], SocketState] {
  const [samples, setSamples] = useState<readonly Sample[]>([]);
  const [state, setState] = useState<SocketState>('connecting');
  useEffect(() => whileVisible(() => {
    const socket = new ReconnectingSocket(() => '/stats/ws', {
      onState: setState,
      onMessage: ({type, data}) => {
        if (type === 'stats') setSamples(before => withSample(before, data as unknown as Stats, Date.now()));
      },
    });
    return () => socket.close();
  }, 0), []);
  return [samples, state];
}

function Readiness({health}: {health: Health}) {
  return (
    <section class={`readiness${health.ready ? ' is-ready' : ''}`} aria-label="Readiness">
      <strong><span aria-hidden="true">{health.ready ? '✔' : '✖'}</span> {health.ready ? 'Ready' : 'Not ready'}</strong>
      {health.reasons.length === 0
        ? <span>Commands are accepted and a worker is connected.</span>
        : <ul>{health.reasons.map(each => <li key={each}>{reasonWords[each] ?? each.replaceAll('_', ' ')}</li>)}</ul>}
    </section>);
}

interface TileProps {
  name: string;
  value: ComponentChildren;
  note?: ComponentChildren;
  href?: string;
  isWarning?: boolean;
}

function Tile({name, value, note, href, isWarning}: TileProps) {
  return (
    <div class={`tile${isWarning ? ' is-warning' : ''}`}>
      <dt>{href ? <a href={href}>{name}</a> : name}</dt>
      <dd class="tile-value">{value}</dd>
      {note && <dd class="tile-note">{note}</dd>}
    </div>);
}

const ms = (value: number | undefined) => (value === undefined ? '–' : inUnit('ms', value));

function Tiles({health, samples, past}: {health: Health; samples: readonly Sample[]; past: readonly HistorySample[]}) {
  const {tracker} = health;
  const last = samples.at(-1);
  const share = failedShare(past);
  const percent = share === null ? '0 %' : `${(share * 100).toFixed(share < 0.1 ? 1 : 0)} %`;
  const queued = last?.queued ?? tracker?.queue.depth ?? 0;
  const oldest = last ? last.oldest_ms : tracker?.queue.oldest_ms;
  return (
    <dl class="tiles">
      <Tile name="Queued" href="/ui/commands?status=queued" value={queued.toLocaleString('en')}
        note={oldest ? `oldest ${lasted(oldest)}` : 'queue is empty'} isWarning={(oldest ?? 0) > 10_000} />
      <Tile name="Submitted" href="/ui/commands" value={rated(rateOf(samples, 'registered'))} note="current rate" />
      <Tile name="Completed" value={rated(rateOf(samples, 'completed'))} note="current rate" />
      <Tile name="Failed" href="/ui/failed" value={past.length === 0 ? '–' : percent}
        isWarning={(share ?? 0) > 0.05}
        note={past.length === 0 ? 'no data yet' : share === null ? 'no commands ended' : 'of commands ended in the last 15 minutes'} />
      {last?.dispatch_p99_ms !== undefined && (
        <Tile name="Dispatch" value={ms(last.dispatch_p99_ms)} note={`p99; median ${ms(last.dispatch_p50_ms)}`} />)}
      {last?.journal_p99_ms !== undefined && (
        <Tile name="Disk" value={ms(last.journal_p99_ms)} note="p99 of journal writes" />)}
      {tracker && (
        <>
          <Tile name="Workers" href="/ui/workers" value={`${tracker.workers.connected} of ${tracker.workers.known}`}
            note="connected, of all known" isWarning={tracker.workers.connected === 0} />
          <Tile name="Sessions" href="/ui/sessions" value={tracker.sessions.toLocaleString('en')} />
          <Tile name="In memory" value={sized(last?.payload_bytes ?? tracker.payload_bytes)} note="parameters and results" />
        </>)}
    </dl>);
}

function Versions({health: {gateway, tracker}, feed}: {health: Health; feed: SocketState}) {
  return (
    <p class="muted versions">
      Gateway {gateway.version}, up {lasted(gateway.uptime_s * 1000)}
      {tracker && <> · tracker {tracker.version}, up {lasted(tracker.uptime_s * 1000)}</>}
      {tracker && tracker.late_results > 0 && <> · {tracker.late_results.toLocaleString('en')} late results</>}
      {me.value?.tokens && <> · signed in as {me.value.name} ({me.value.role})</>}
      {feed !== 'live' && <> · rates {feed === 'closed' ? 'paused' : 'connecting…'}</>}
    </p>);
}
