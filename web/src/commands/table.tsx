// The page /ui/commands: all commands, live, with filters in the address (status, target, q), next to the detail of the
// command with the id in the address: /ui/commands/{id}.
import type {ComponentChildren} from 'preact';
import {useLayoutEffect, useMemo, useRef, useState} from 'preact/hooks';
import {go, place, setQuery} from '../router.ts';
import {now} from '../ui/clock.ts';
import {Boundary, Failure} from '../ui/failure.tsx';
import {visible} from '../ui/visible.ts';
import {CommandDetailView} from './detail.tsx';
import {failed, feed, isListed, rows, store, useCommandFeed} from './live.ts';
import {filterOf, filterStatuses, isEnded, matches, type Command, type CommandFilter} from './model.ts';
import {commandPath, State} from './state.tsx';
import {useRowWindow} from './row_window.ts';
import {TimelineBar} from './timeline_bar.tsx';
import {lasted} from './timeline.ts';

const rowHeight = 36;

export function CommandsPage({id}: {id?: string}) {
  useCommandFeed();
  const filter = filterOf(place.value.query);
  const [paused, setPaused] = useState<readonly Command[] | null>(null);
  const all = paused ?? rows.value;
  const shown = useMemo(() => all.filter(each => matches(each, filter)),
    [all, filter.status, filter.target, filter.text]);
  return (
    <div class={`commands${id ? ' has-detail' : ''}`}>
      <section class="commands-list" aria-label="All commands">
        <h1 class="sr">Commands</h1>
        <Filters filter={filter} all={all} isPaused={paused !== null}
          onPause={() => setPaused(paused ? null : rows.value)} />
        {failed.value !== null && <Failure error={failed.value} />}
        {shown.length > 0
          ? <Table shown={shown} selected={id ?? ''} />
          : <Empty all={all.length} isFiltered={Boolean(filter.status || filter.target || filter.text)} />}
        <p class="commands-foot">
          <span role="status">{shown.length.toLocaleString('en')} of {all.length.toLocaleString('en')}</span>
          {' '}<span>{feed.value === 'live' ? 'live' : feed.value === 'closed' ? 'paused' : 'connecting…'}</span>
        </p>
      </section>
      {id && <Boundary what="The command"><CommandDetailView key={id} id={id} onClose={() => go(`/ui/commands${location.search}`)} /></Boundary>}
    </div>);
}

interface FiltersProps {
  filter: CommandFilter;
  all: readonly Command[];
  isPaused: boolean;
  onPause: () => void;
}

function Filters({filter, all, isPaused, onPause}: FiltersProps) {
  const targets = useMemo(() => {
    const found = new Set(all.map(({target}) => target));
    if (filter.target) found.add(filter.target);
    return [...found].sort().slice(0, 200);
  }, [all, filter.target]);
  return (
    <form class="filters" role="search" aria-label="Filter commands" onSubmit={event => event.preventDefault()}>
      <label>Status{' '}
        <select value={filter.status} onChange={event => setQuery({status: event.currentTarget.value})}>
          <option value="">all</option>
          {filterStatuses.map(each => <option key={each} value={each}>{each}</option>)}
        </select>
      </label>
      <label>Target{' '}
        <select value={filter.target} onChange={event => setQuery({target: event.currentTarget.value})}>
          <option value="">all</option>
          {targets.map(each => <option key={each} value={each}>{each}</option>)}
        </select>
      </label>
      <input type="search" aria-label="Filter" placeholder="/ type, ID, error…" value={filter.text} data-shortcut="/"
        onInput={event => setQuery({q: event.currentTarget.value})} />
      <button type="button" aria-pressed={isPaused} onClick={onPause}>{isPaused ? 'Resume updates' : 'Pause updates'}</button>
    </form>);
}

function Empty({all, isFiltered}: {all: number; isFiltered: boolean}) {
  if (isFiltered && all > 0) {
    return (
      <div class="empty">
        <p>0 of {all.toLocaleString('en')} commands match.</p>
        <button type="button" onClick={() => setQuery({status: '', target: '', q: ''})}>Clear filter</button>
      </div>);
  }
  if (!isListed.value) return <div class="empty"><p>Loading…</p></div>;
  return (
    <div class="empty">
      <p>No commands yet. Connect an agent to this gateway:</p>
      <pre tabIndex={0}>{`claude mcp add --transport http callslip ${location.origin}/mcp`}</pre>
      <p>Ended commands are kept for 1 minute, failed ones for 10 minutes.</p>
    </div>);
}

function Table({shown, selected}: {shown: readonly Command[]; selected: string}) {
  const scroller = useRef<HTMLDivElement>(null);
  const {first, end} = useRowWindow(scroller, rowHeight, shown.length);
  const at = shown.findIndex(each => each.correlation_id === selected);
  const [active, setActive] = useState('');
  const current = shown.some(each => each.correlation_id === active) ? active : shown[Math.max(at, 0)]!.correlation_id;
  const wanted = useRef('');
  useLayoutEffect(() => {
    if (!wanted.current) return;
    const link = scroller.current?.querySelector<HTMLElement>(`a[data-id="${CSS.escape(wanted.current)}"]`);
    if (link) {
      wanted.current = '';
      link.focus({preventScroll: true});
    }
  });
  const onKey = (event: KeyboardEvent) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const from = shown.findIndex(each => each.correlation_id === current);
    const to = event.key === 'ArrowDown' || event.key === 'j' ? from + 1
      : event.key === 'ArrowUp' || event.key === 'k' ? from - 1
        : event.key === 'Home' ? 0 : event.key === 'End' ? shown.length - 1 : null;
    if (to === null) return;
    event.preventDefault();
    const index = Math.max(0, Math.min(shown.length - 1, to));
    const id = shown[index]!.correlation_id;
    wanted.current = id;
    setActive(id);
    const element = scroller.current!;
    // Below the sticky header.
    if (index * rowHeight < element.scrollTop) element.scrollTop = index * rowHeight;
    else if ((index + 2) * rowHeight > element.scrollTop + element.clientHeight) {
      element.scrollTop = (index + 2) * rowHeight - element.clientHeight;
    }
  };
  return (
    <div class="table-window" ref={scroller} onKeyDown={onKey}>
      <table aria-label="Commands" aria-rowcount={shown.length + 1}>
        <thead>
          <tr aria-rowindex={1}>
            {columns.map(each => <th key={each.title} scope="col" class={each.class}>{each.title}</th>)}
          </tr>
        </thead>
        <tbody>
          {first > 0 && <tr aria-hidden="true" style={{height: `${first * rowHeight}px`}}><td /></tr>}
          {shown.slice(first, end).map((each, index) => (
            <Row key={each.correlation_id} command={each} index={first + index} isSelected={each.correlation_id === selected}
              isActive={each.correlation_id === current} onActive={setActive} />))}
          {end < shown.length && <tr aria-hidden="true" style={{height: `${(shown.length - end) * rowHeight}px`}}><td /></tr>}
        </tbody>
      </table>
    </div>);
}

interface RowProps {
  command: Command;
  index: number;
  isSelected: boolean;
  isActive: boolean;
  onActive: (id: string) => void;
}

function Row(props: RowProps) {
  const {command, index, isSelected} = props;
  const id = command.correlation_id;
  const isGone = store.isGone(id);
  return (
    <tr aria-rowindex={index + 2} aria-current={isSelected ? 'true' : undefined} data-status={command.status}
      class={`command-row${isGone ? ' is-gone' : ''}`} title={isGone ? 'No longer available' : undefined}
      onClick={event => {
        if (event.target instanceof Element && event.target.closest('a')) return;
        go(commandPath(id));
      }}>
      {columns.map(each => <td key={each.title} class={each.class}>{each.cell(props)}</td>)}
    </tr>);
}

// The classes set widths, and hide a column where the window is narrow: commands.css.
const columns: readonly {title: string; class: string; cell: (row: RowProps) => ComponentChildren}[] = [
  {
    title: 'Type',
    class: 'type',
    cell: ({command: {command, correlation_id: id}, isActive, onActive}) => (
      <a href={commandPath(id)} data-id={id} tabIndex={isActive ? 0 : -1} onFocus={() => onActive(id)}>{visible(command)}</a>),
  },
  {
    title: 'Status',
    class: 'status',
    cell: ({command}) => {
      const fraction = command.progress?.fraction;
      return (<>
        <State command={command} />{!isEnded(command) && fraction ? <span class="progress"> {Math.round(fraction * 100)} %</span> : null}
        {(command.attempt ?? 0) > 1 && <span class="warn"> ×{command.attempt}<span class="sr"> attempts</span></span>}
      </>);
    },
  },
  {title: 'Target', class: 'wide', cell: ({command}) => visible(command.target)},
  {
    title: 'Age',
    class: 'age number',
    cell: ({command}) => lasted(Math.max(0, now.value - Date.parse(command.created_at))),
  },
  {title: 'Timeline', class: 'wide', cell: ({command}) => <TimelineBar command={command} now={now.value} />},
  {
    title: 'ID',
    class: 'id wider',
    cell: ({command: {correlation_id: id}}) => <code>{id.length > 14 ? `…${id.slice(-8)}` : id}</code>,
  },
];
