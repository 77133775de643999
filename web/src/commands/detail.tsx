import type {ComponentChildren} from 'preact';
import {useEffect, useLayoutEffect, useRef, useState} from 'preact/hooks';
import {ApiError, blob, canAct, get} from '../api/http.ts';
import type {Json} from '../api/types.ts';
import {now} from '../ui/clock.ts';
import {Copy} from '../ui/copy.tsx';
import {Boundary, Failure} from '../ui/failure.tsx';
import {JsonTree} from '../ui/json_tree.tsx';
import {pretty} from '../ui/json_value.ts';
import {save} from '../ui/save.ts';
import {visible} from '../ui/visible.ts';
import {cancel, replay} from './act.ts';
import {mayHaveRun} from './groups.ts';
import {rows, store} from './live.ts';
import {isEnded, isFailed, workerOf, type CommandDetail} from './model.ts';
import {commandPath, State} from './state.tsx';
import {deadlinesOf, lasted, phasesOf, spanRows, traceIdOf} from './timeline.ts';
import {TimelineBar} from './timeline_bar.tsx';

// The detail view of a command: its timeline and trace, its parameters and its result. Fetches it again when its live
// row changes.
export function CommandDetailView({id, onClose}: {id: string; onClose: () => void}) {
  const [detail, setDetail] = useState<CommandDetail | null>(null);
  const [error, setError] = useState<unknown>(null);
  const live = (rows.value, store.get(id));
  const change = live ? `${live.status} ${live.stage ?? ''} ${live.attempt ?? 0} ${live.trace?.length ?? 0}` : '';
  useEffect(() => {
    const abort = new AbortController();
    get<CommandDetail>(`/commands/${encodeURIComponent(id)}`, abort.signal)
      .then(told => { setDetail(told); setError(null); })
      .catch((error: unknown) => {
        if (abort.signal.aborted) return;
        const isGone = error instanceof ApiError && error.status === 404;
        setError(isGone ? new ApiError(404, error.code, 'This command is no longer available.',
          'Ended commands are kept for 1 minute, failed ones for 10 minutes.') : error);
      });
    return () => abort.abort();
  }, [id, change]);
  const head = useRef<HTMLHeadingElement>(null);
  useLayoutEffect(() => head.current?.focus({preventScroll: true}), []);

  const command: CommandDetail | undefined = detail && live ? {...detail, ...live} : detail ?? live;
  return (
    <section class="command-detail" aria-label="Command" data-command-id={id} data-status={command?.status}
      onKeyDown={event => {
        if (event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented) return;
        if (event.key === 'Escape') onClose();
        else event.currentTarget.querySelector<HTMLButtonElement>(`button[aria-keyshortcuts="${CSS.escape(event.key)}"]`)?.click();
      }}>
      <header>
        <h2 tabIndex={-1} ref={head}>{visible(command?.command ?? 'Command')}</h2>
        <button type="button" aria-label="Close" onClick={onClose}>✕</button>
      </header>
      <p class="command-id"><code>{id}</code> <Copy text={id} label="Copy ID" /></p>
      {error !== null && <Failure error={error} />}
      {command && <Body command={command} />}
    </section>);
}

// Number of digits that identify an MCP session; ids of recorded sessions are longer.
const mcpSessionLength = 8;

function Body({command}: {command: CommandDetail}) {
  const phases = phasesOf(command, now.value);
  const deadlines = deadlinesOf(command, command.deadlines_ms ?? {});
  return (
    <>
      <Actions command={command} />
      <dl class="facts">
        <Fact name="Status"><State command={command} /></Fact>
        {command.progress && !isEnded(command) && (
          <Fact name="Progress">
            {command.progress.fraction ? <progress max={1} value={command.progress.fraction} aria-label="Progress" /> : null}
            {' '}{visible(command.progress.message ?? '')}
          </Fact>)}
        <Fact name="Target">{visible(command.target)}</Fact>
        {workerOf(command) && <Fact name="Worker">{workerOf(command)}</Fact>}
        {command.client && <Fact name="Client">{command.client}</Fact>}
        {command.session && (
          <Fact name="Session">
            {command.session.length > mcpSessionLength
              ? <a href={`/ui/sessions/${encodeURIComponent(command.session)}`}>{command.session}</a> : command.session}
          </Fact>)}
        {command.url && <Fact name="Page">{visible(command.url)}{command.tab_id !== undefined && ` (tab ${command.tab_id})`}</Fact>}
        {(command.attempt ?? 0) > 1 && <Fact name="Attempt">{command.attempt}</Fact>}
        {command.ordering_key && <Fact name="Ordering key">{command.ordering_key}</Fact>}
        {command.priority ? <Fact name="Priority">{command.priority}</Fact> : null}
        {command.replay_of && <Fact name="Replay of"><a href={commandPath(command.replay_of)}><code>{command.replay_of}</code></a></Fact>}
        {command.traceparent && <Fact name="Trace ID"><code>{traceIdOf(command.traceparent)}</code></Fact>}
      </dl>
      {isFailed(command) && (
        <div class="ended-badly">
          <strong>{command.error}</strong> {visible(command.message ?? '')}
          {command.hint && <p>{visible(command.hint)}</p>}
          <p>{mayHaveRun(command) ? 'It may have taken effect.' : 'It was not executed.'}</p>
        </div>)}
      {phases.length > 0 && (
        <>
          <TimelineBar command={command} now={now.value} isLarge />
          <ol class="phases">
            {phases.map(({kind, start, end, isOpen, worker}, at) => (
              <li key={at}>
                <span class={`phase-key phase-${kind}`} aria-hidden="true" />{kind} {lasted(end - start)}
                {isOpen && '…'}{worker && ` · ${worker}`}
              </li>))}
            {deadlines.map(({name, at}) => (
              <li key={name} class="deadline">{name.replaceAll('_', ' ')} {at > now.value ? `in ${lasted(at - now.value)}` : 'expired'}</li>))}
          </ol>
        </>)}
      <Spans command={command} />
      <Trace command={command} />
      {command.params !== undefined && <Value name="Parameters" value={command.params} />}
      <Result command={command} />
      {command.late_result !== undefined && <Value name="Late result" value={command.late_result} />}
      {command.context !== undefined && <Value name="Context" value={command.context} isOpen={false} />}
    </>);
}

const Fact = ({name, children}: {name: string; children: ComponentChildren}) =>
  <div><dt>{name}</dt><dd>{children}</dd></div>;

const Value = ({name, value, isOpen = true}: {name: string; value: Json; isOpen?: boolean}) =>
  <section class="value"><h3>{name}</h3><Boundary of={value} plain={() => pretty(value)}><JsonTree value={value} label={name} isOpen={isOpen} /></Boundary></section>;

// Drawn as in tracing tools, with the span ids to find them there.
function Spans({command: {spans}}: {command: CommandDetail}) {
  if (!spans?.length) return null;
  return (
    <details class="spans" open>
      <summary>Spans</summary>
      <table>
        <tbody>
          {spanRows(spans, now.value).map(({name, id, worker, depth, from, to, ms, isOpen}, at) => (
            <tr key={at}>
              <th scope="row" class={`depth-${depth}`}>{name}{worker && <span class="muted"> · {worker}</span>}</th>
              <td class="number">{lasted(ms)}{isOpen && '…'}</td>
              <td class="span-bar">
                <svg viewBox="0 0 100 10" preserveAspectRatio="none" aria-hidden="true">
                  <rect x={from * 100} y={2} width={Math.max(0.6, (to - from) * 100)} height={6} />
                </svg>
              </td>
              <td>{id && <code>{id}</code>}</td>
            </tr>))}
        </tbody>
      </table>
    </details>);
}

function Trace({command: {trace}}: {command: CommandDetail}) {
  if (!trace?.length) return null;
  const start = Date.parse(trace[0]!.time);
  return (
    <details class="trace">
      <summary>Trace ({trace.length} {trace.length === 1 ? 'step' : 'steps'})</summary>
      <ol>
        {trace.map(({stage, time, source, worker}, at) => (
          <li key={at}>
            <time dateTime={time} title={time}>{new Date(time).toLocaleTimeString()}</time>
            {' '}<span class="number">+{Date.parse(time) - start} ms</span> <strong>{stage.replaceAll('_', ' ')}</strong>
            {' '}by {source}{worker && ` → ${worker}`}
          </li>))}
      </ol>
    </details>);
}

// The largest result shown as a tree, in bytes; larger ones can only be saved.
const treeBytes = 4 << 20;

function Result({command}: {command: CommandDetail}) {
  const [told, setTold] = useState<Json>();
  const [error, setError] = useState<unknown>(null);
  if (command.result !== undefined) return <Value name="Result" value={command.result} />;
  if (told !== undefined) return <Value name="Result" value={told} />;
  if (!command.result_bytes) return null;
  const path = `/commands/${encodeURIComponent(command.correlation_id)}/result`;
  const read = (then: (found: Blob) => void | Promise<void>) => {
    blob(path).then(then).catch((error: unknown) => setError(error));
  };
  return (
    <section class="value">
      <h3>Result</h3>
      <p>{command.result_bytes.toLocaleString('en')} bytes.{' '}
        {command.result_bytes <= treeBytes && (
          <button type="button" onClick={() => read(async found => setTold(JSON.parse(await found.text()) as Json))}>Show result</button>)}
        {' '}<button type="button" onClick={() => read(found => save(found, `${command.correlation_id}.json`))}>Save result</button>
      </p>
      {error !== null && <Failure error={error} />}
    </section>);
}

const focused = (node: HTMLElement | null) => node?.focus();

function Actions({command}: {command: CommandDetail}) {
  const [isBusy, setBusy] = useState(false);
  const [isAsking, setAsking] = useState(false);
  const [error, setError] = useState<unknown>(null);
  const [replayed, setReplayed] = useState('');
  if (!canAct()) return null;
  const id = command.correlation_id;
  const act = async (what: () => Promise<void>) => {
    if (isBusy) return;
    setBusy(true);
    setAsking(false);
    setError(null);
    try {
      await what();
    } catch (error) {
      setError(error);
    }
    setBusy(false);
  };
  const again = () => act(async () => setReplayed((await replay(id)).correlation_id));
  return (
    <div class="actions">
      {!isEnded(command) && (
        <button type="button" class="danger" aria-keyshortcuts="x" disabled={isBusy}
          onClick={() => void act(async () => { await cancel(id); })}>
          Cancel command
        </button>)}
      {isFailed(command) && !replayed && !isAsking && (
        <button type="button" aria-keyshortcuts="r" disabled={isBusy} onClick={() => { if (mayHaveRun(command)) setAsking(true); else void again(); }}>
          Replay
        </button>)}
      {isAsking && (
        <div class="ask" role="group" aria-label="Confirm replay">
          <span>It may already have taken effect.</span>
          <button type="button" class="danger" ref={focused} onClick={() => void again()}>Replay anyway</button>
          <button type="button" onClick={() => setAsking(false)}>Cancel</button>
        </div>)}
      {replayed && <span role="status">Replayed as <a href={commandPath(replayed)}><code>{replayed}</code></a></span>}
      {error !== null && <Failure error={error} />}
    </div>);
}
