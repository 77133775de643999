// The page /ui/workers[?target=NAME][&q=TEXT]: targets with their queues and workers.
import {place, queryWith, setQuery} from '../router.ts';
import {now} from '../ui/clock.ts';
import {Boundary, Failure} from '../ui/failure.tsx';
import {counted} from '../ui/json_value.ts';
import {usePolled, type Polled} from '../ui/poll.ts';
import {isSlow, needsWorker, orderWorkers, type Target, type Worker} from './targets.ts';
import {lasted} from './timeline.ts';
import {WorkerLog} from './worker_log.tsx';

// Targets that need attention first, and the number of all matches.
interface TargetList { targets: Target[]; total: number }
interface WorkerList { workers: Worker[]; next_page_token?: string }

// Maximum number of targets shown.
const shownTargets = 200;
const everyMs = () => 1_000;

export function WorkersPage() {
  const target = place.value.query.get('target') ?? '';
  const text = place.value.query.get('q') ?? '';
  const targets = usePolled<TargetList>(`/targets?limit=${shownTargets}&contains=${encodeURIComponent(text)}`, everyMs);
  const workers = usePolled<WorkerList>(`/workers?limit=1000&target=${encodeURIComponent(target)}`, everyMs);
  const found = targets.value?.targets ?? [];
  const error = targets.error ?? workers.error;
  return (
    <div class="workers page">
      <header class="page-head">
        <h1>Workers</h1>
        <input type="search" aria-label="Filter targets" placeholder="/ target…" value={text} data-shortcut="/"
          onInput={event => setQuery({q: event.currentTarget.value})} />
      </header>
      {error !== null && <Failure error={error} />}
      {targets.value && found.length === 0 && (
        <div class="empty">
          {text
            ? <p>No matching targets.</p>
            : <p>No workers are connected and no commands are queued. Open the browser with the extension and turn the extension on: its worker appears here immediately.</p>}
        </div>)}
      {found.length > 0 && <Targets found={found} total={targets.value?.total ?? 0} selected={target} />}
      {(text || found.length > 0) && <Workers workers={workers} target={target} />}
      {target && <Boundary what="The worker log"><WorkerLog key={target} target={target} /></Boundary>}
    </div>);
}

function Targets({found, total, selected}: {found: Target[]; total: number; selected: string}) {
  const most = Math.max(1, ...found.map(({queued}) => queued));
  return (
    <div class="table-scroll" tabIndex={0} role="region" aria-label="Targets">
      <table>
        <thead>
          <tr>
            <th scope="col">Target</th><th scope="col" class="number">Queued</th><th scope="col" class="number">Oldest</th>
            <th scope="col" class="number">Running</th><th scope="col" class="number">Workers</th>
          </tr>
        </thead>
        <tbody>
          {found.map(each => (
            <tr key={each.target} aria-current={each.target === selected ? 'true' : undefined}>
              <th scope="row">
                <a href={queryWith({target: each.target === selected ? '' : each.target})}>{each.target}</a>
                {needsWorker(each) && <span class="warn"> no worker connected</span>}
              </th>
              <td class="number"><meter aria-hidden="true" min={0} max={most} value={each.queued} /> {each.queued.toLocaleString('en')}
                {each.limit && each.queued > each.limit / 2 ? <span class="warn"> of {each.limit.toLocaleString('en')}</span> : null}</td>
              <td class={`number${isSlow(each) ? ' warn' : ''}`}>{each.oldest_ms ? lasted(each.oldest_ms) : '–'}</td>
              <td class="number">{(each.running + each.delivered).toLocaleString('en')}</td>
              <td class="number">{each.workers_connected} of {each.workers_known}</td>
            </tr>))}
        </tbody>
      </table>
      {total > found.length && <p class="muted">{(total - found.length).toLocaleString('en')} more. Filter to find them.</p>}
    </div>);
}

function Workers({workers, target}: {workers: Polled<WorkerList>; target: string}) {
  const found = orderWorkers(workers.value?.workers ?? [], target);
  if (!workers.value) return null;
  return (
    <section>
      <h2>{target ? `Workers for ${target}` : 'All workers'} <span class="count">{found.length}</span></h2>
      {found.length === 0 && (
        <div class="empty"><p>{target ? `No worker for ${target} was seen in the last hour. ` : 'No worker was seen in the last hour. '}
          Open the browser and turn the extension on, or start the runner.</p></div>)}
      <ul class="worker-list">
        {found.map(each => <li key={`${each.target} ${each.worker}`}><Boundary what="This worker"><WorkerView worker={each} /></Boundary></li>)}
      </ul>
    </section>);
}

function WorkerView({worker}: {worker: Worker}) {
  const doing = worker.doing ?? [];
  const state = !worker.connected ? `last seen ${lasted(worker.last_seen_ms_ago)} ago` : worker.paused ? 'paused by user' : 'connected';
  return (
    <article class="worker" data-connected={worker.connected}>
      <h3>
        <span class={`dot${worker.connected && !worker.paused ? ' is-on' : ''}`} aria-hidden="true" />
        {worker.name || worker.worker}
      </h3>
      <p class="muted">{[state, worker.target, worker.browser, worker.version && `version ${worker.version}`].filter(Boolean).join(' · ')}</p>
      {doing.length > 0 && (
        <ul>
          {doing.map(each => (
            <li key={each.correlation_id}>
              <a href={`/ui/commands/${encodeURIComponent(each.correlation_id)}`}>{each.command}</a> {each.stage}
              {' '}{lasted(Math.max(0, now.value - Date.parse(each.since)))}
            </li>))}
        </ul>)}
      {(worker.doing_for_others ?? 0) > 0 && <p class="muted">{worker.doing_for_others} more for other clients</p>}
      {(worker.tabs?.length ?? 0) > 0 && (
        <details>
          <summary>{counted(worker.tabs!.length + (worker.more_tabs ?? 0), 'tab')}</summary>
          <ul>
            {worker.tabs!.map((tab, at) => <li key={at}>{tab.title || 'untitled'} <span class="muted url">{tab.url}</span></li>)}
          </ul>
        </details>)}
    </article>);
}
