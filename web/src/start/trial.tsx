import {useEffect, useState} from 'preact/hooks';
import {ApiError, canAct, get, isAway, post} from '../api/http.ts';
import {isEnded, isFailed, type Command, type CommandDetail} from '../commands/model.ts';
import {commandPath, State} from '../commands/state.tsx';
import {lasted, phasesOf} from '../commands/timeline.ts';
import {TimelineBar} from '../commands/timeline_bar.tsx';
import {now} from '../ui/clock.ts';
import {Failure} from '../ui/failure.tsx';
import {visible} from '../ui/visible.ts';
import {titleOf, type Tab} from './progress.ts';
import {Step} from './step.tsx';

// While the user watches a command.
const lookEveryMs = 100;
const afterErrorMs = 2_000;

const nameOf = ({target, id}: Tab) => `${target} ${id}`;

// Reads the title of a tab, as an agent would, and shows the progress of the command live.
export function Trial({tabs, hasBrowser, onDone}: {tabs: Tab[]; hasBrowser: boolean; onDone: () => void}) {
  const [chosen, setChosen] = useState('');
  const [command, setCommand] = useState<CommandDetail | null>(null);
  const [error, setError] = useState<unknown>(null);
  const [isBusy, setBusy] = useState(false);
  const tab = tabs.find(each => nameOf(each) === chosen) ?? tabs[0];
  const id = command?.correlation_id ?? '';
  const isOver = command !== null && isEnded(command);
  useEffect(() => {
    if (!id || isOver) return undefined;
    const abort = new AbortController();
    let timer = 0;
    const look = async () => {
      try {
        const told = await get<CommandDetail>(`/commands/${encodeURIComponent(id)}`, abort.signal);
        if (abort.signal.aborted) return;
        setCommand(told);
        setError(null);
        if (titleOf(told) !== null) onDone();
        if (isEnded(told)) return;
      } catch (failure) {
        if (abort.signal.aborted) return;
        setError(failure);
        // The command is gone, or belongs to another client: a retry is pointless.
        if (failure instanceof ApiError && failure.status >= 400 && failure.status < 500) return;
        timer = window.setTimeout(() => void look(), afterErrorMs);
        return;
      }
      timer = window.setTimeout(() => void look(), lookEveryMs);
    };
    void look();
    return () => { abort.abort(); clearTimeout(timer); };
  }, [id, isOver]);
  const run = async () => {
    if (!tab || isBusy) return;
    setBusy(true);
    setError(null);
    try {
      setCommand(await post<Command>('/commands',
        {target: tab.target, command: 'get_page', params: {tab_id: tab.id}, idempotent: true}));
    } catch (failure) {
      setError(failure);
    }
    setBusy(false);
  };
  const title = command && titleOf(command);
  const state = title !== null ? <>The title is <b>“{visible(title)}”</b>.</>
    : tab ? 'Not tried yet.'
      : hasBrowser ? 'No open tab is available to agents. Open a web page in the browser.' : 'Connect a browser first.';
  return (
    <Step title="Try it" isDone={title !== null} state={state}>
      {canAct() && tab && (
        <form class="trial" onSubmit={event => { event.preventDefault(); void run(); }}>
          <label>Tab
            <select value={nameOf(tab)} onChange={event => setChosen(event.currentTarget.value)}>
              {tabs.map(each => <option key={nameOf(each)} value={nameOf(each)}>{visible(each.title)}</option>)}
            </select>
          </label>
          <button type="submit" class="primary" disabled={isBusy || isAway.value || (command !== null && !isOver)}>Read title</button>
        </form>)}
      {error !== null && <Failure error={error} />}
      {command && <Watched command={command} />}
    </Step>);
}

function Watched({command}: {command: CommandDetail}) {
  const phases = phasesOf(command, now.value);
  return (
    <div class="watched">
      <p><a href={commandPath(command.correlation_id)}><code>{command.correlation_id}</code></a> <State command={command} /></p>
      <TimelineBar command={command} now={now.value} isLarge />
      <ol class="phases">
        {phases.map(({kind, start, end, isOpen}, at) => (
          <li key={at}><span class={`phase-key phase-${kind}`} aria-hidden="true" />{kind} {lasted(end - start)}{isOpen && '…'}</li>))}
        {isEnded(command) && <li>{command.status}</li>}
      </ol>
      {isFailed(command) && <p class="error-text"><strong>{command.error}</strong> {visible(command.message ?? '')} {visible(command.hint ?? '')}</p>}
    </div>);
}
