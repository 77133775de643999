// The page /ui/failed[?group=command|target]: the failures of the last ten minutes, in groups.
import {useMemo, useState} from 'preact/hooks';
import {canAct} from '../api/http.ts';
import {place, setQuery} from '../router.ts';
import {now} from '../ui/clock.ts';
import {Boundary, Failure} from '../ui/failure.tsx';
import {visible} from '../ui/visible.ts';
import {replayAll, type Replayed} from './act.ts';
import {groupings, groupsOf, type Group, type GroupBy} from './groups.ts';
import {failed as notListed, isListed, rows, store, useCommandFeed} from './live.ts';
import {endedAt, isFailed} from './model.ts';
import {State} from './state.tsx';
import {lasted} from './timeline.ts';

// Initial number of commands shown in a group.
const shownAtFirst = 20;

const titles: Record<GroupBy, string> = {error: 'error', command: 'type', target: 'target'};

export function FailedPage() {
  useCommandFeed();
  const told = place.value.query.get('group');
  const by = groupings.find(each => each === told) ?? 'error';
  const failed = useMemo(() =>
    rows.value.filter(each => isFailed(each) && !store.isGone(each.correlation_id)), [rows.value]);
  const groups = useMemo(() => groupsOf(failed, by), [failed, by]);
  return (
    <div class="failed page">
      <header class="page-head">
        <h1>Failed <span class="count">{failed.length.toLocaleString('en')}</span></h1>
        <label>Group by{' '}
          <select value={by} onChange={event => setQuery({group: event.currentTarget.value === 'error' ? '' : event.currentTarget.value})}>
            {groupings.map(each => <option key={each} value={each}>{titles[each]}</option>)}
          </select>
        </label>
      </header>
      {notListed.value !== null && <Failure error={notListed.value} />}
      {groups.length === 0
        ? <div class="empty"><p>{isListed.value ? 'No failures in the last 10 minutes. Older ones are not kept.' : 'Loading…'}</p></div>
        : <ul class="groups" aria-label="Failures">{groups.map(group => <li key={group.name}><Boundary what="This group"><GroupView group={group} by={by} /></Boundary></li>)}</ul>}
    </div>);
}

const some = (names: readonly string[]) => `${names.slice(0, 3).join(', ')}${names.length > 3 ? ` and ${names.length - 3} more` : ''}`;

function GroupView({group, by}: {group: Group; by: GroupBy}) {
  const [isOpen, setOpen] = useState(false);
  const [shown, setShown] = useState(shownAtFirst);
  const count = group.commands.length;
  const ago = (time: string) => lasted(Math.max(0, now.value - Date.parse(time)));
  return (
    <section class="failure-group" aria-label={group.name}>
      <div class="group-head">
        <button type="button" class="group-name" aria-expanded={isOpen} onClick={() => setOpen(!isOpen)}>
          <span aria-hidden="true">{isOpen ? '▾' : '▸'}</span> {group.name} <span class="count">×{count.toLocaleString('en')}</span>
        </button>
        <span class="muted">
          {some(group.kinds)} on {some(group.targets)} · {ago(group.last)} ago{count > 1 && `, first ${ago(group.first)} ago`}
        </span>
        {canAct() && <ReplayGroup group={group} />}
      </div>
      {by === 'error' && group.hint && <p class="hint">{visible(group.hint)}</p>}
      {isOpen && (
        <ul class="group-commands">
          {group.commands.slice(0, shown).map(each => (
            <li key={each.correlation_id}>
              <a href={`/ui/commands/${encodeURIComponent(each.correlation_id)}`}>{each.command}</a>
              {' '}on {each.target}, {ago(endedAt(each) ?? each.created_at)} ago
              {by !== 'error' && <>: <State command={each} /></>} <span class="muted">{each.message}</span>
            </li>))}
          {shown < count && <li><button type="button" onClick={() => setShown(shown + 100)}>Show {Math.min(100, count - shown)} more of {count - shown}</button></li>}
        </ul>)}
    </section>);
}

function ReplayGroup({group}: {group: Group}) {
  const [isAsking, setAsking] = useState(false);
  const [so, setSo] = useState<Replayed | null>(null);
  const [of, setOf] = useState(0);
  const start = (all: Group['commands']) => {
    setAsking(false);
    setOf(all.length);
    setSo({done: 0, refused: []});
    void replayAll(all.map(({correlation_id}) => correlation_id), setSo);
  };
  if (so) {
    return (
      <span role="status" class="muted">
        {so.done} of {of} replayed{so.refused.length > 0 && `, ${so.refused.length} refused`}
      </span>);
  }
  const safe = group.commands.filter(each => each.may_have_executed === false);
  if (!isAsking) {
    return (
      <button type="button" onClick={() => { if (group.mayHaveRun > 0) setAsking(true); else start(group.commands); }}>
        Replay {group.commands.length.toLocaleString('en')}
      </button>);
  }
  return (
    <div class="ask" role="group" aria-label="Confirm replay">
      <span>{group.mayHaveRun.toLocaleString('en')} may already have taken effect.</span>
      {safe.length > 0 && <button type="button" onClick={() => start(safe)}>Replay the other {safe.length.toLocaleString('en')}</button>}
      <button type="button" class="danger" onClick={() => start(group.commands)}>Replay all {group.commands.length.toLocaleString('en')}</button>
      <button type="button" onClick={() => setAsking(false)}>Cancel</button>
    </div>);
}
