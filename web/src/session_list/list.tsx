import {computed} from '@preact/signals';
import {useMemo, useState} from 'preact/hooks';
import {canAct, isAway, me} from '../api/http.ts';
import type {Session} from '../api/types.ts';
import {place, sessionPath, setQuery} from '../router.ts';
import {ago, now} from '../ui/clock.ts';
import {Boundary, Failure} from '../ui/failure.tsx';
import {type Group, grouped, groups, nameOf, standing} from './groups.ts';
import {NewSession} from './new_session.tsx';
import {listed, listError, retryList, seenOf, sessions} from './store.ts';

// Limit per group; the filter finds the rest.
const maxShown = 100;

// All sessions, those that need attention first.
export function SessionList({current}: {current: string}) {
  const [isMaking, setMaking] = useState(false);
  const text = place.value.query.get('filter') ?? '';
  const byGroup = grouped(sessions.value.values(), seenOf, text);
  const found = [...byGroup.values()].reduce((count, list) => count + list.length, 0);
  return (
    <nav class="session-list" aria-label="Sessions">
      <div class="list-head">
        <input type="search" aria-label="Filter sessions" placeholder="Filter…  /" value={text}
          onInput={event => setQuery({filter: event.currentTarget.value})} data-shortcut="/" />
        {canAct() && <button type="button" class="primary" disabled={isAway.value} onClick={() => setMaking(true)}>New session</button>}
      </div>
      {listError.value !== null && <Failure error={listError.value}><button type="button" disabled={isAway.value} onClick={retryList}>Retry</button></Failure>}
      {!listed.value && listError.value === null && <p class="hint" aria-busy="true">Loading…</p>}
      {listed.value && sessions.value.size === 0 && <NoSessions />}
      {listed.value && sessions.value.size > 0 && found === 0 && (
        <p class="hint">{`0 of ${sessions.value.size} sessions match. `}
          <button type="button" class="quiet" onClick={() => setQuery({filter: ''})}>Clear filter</button>
        </p>)}
      <div class="scroll" role="list" aria-label="Sessions">
        {groups.map(({id, title}) => <GroupView key={id} group={id} title={title} list={byGroup.get(id)!} current={current} />)}
      </div>
      {isMaking && <NewSession onClose={() => setMaking(false)} />}
    </nav>);
}

function GroupView({group, title, list, current}: {group: Group; title: string; list: Session[]; current: string}) {
  if (list.length === 0) return null;
  const rows = list.slice(0, maxShown).map(each => (
    <div role="listitem" key={each.session_id}>
      <Boundary what="This session"><Row session={each} group={group} isCurrent={each.session_id === current} /></Boundary>
    </div>));
  const rest = list.length - maxShown;
  const heading = `${title} ${list.length}`;
  return (
    <div role="listitem" class={`group ${group}`}>
      {group === 'ended' && !list.some(each => each.session_id === current)
        ? <details><summary>{heading}</summary><div role="list" aria-label={title}>{rows}</div></details>
        : <><h2>{heading}</h2><div role="list" aria-label={title}>{rows}</div></>}
      {rest > 0 && <p class="hint">{`${rest} more. Filter to find them.`}</p>}
    </div>);
}

const signs: Record<Group, string> = {needs: '◆', running: '●', unread: '○', idle: '', ended: ''};

// A component of its own: when a minute passes, only the changed times are rendered, not all rows.
function Ago({time}: {time: string}) {
  return <>{useMemo(() => computed(() => ago(time, now.value)), [time])}</>;
}

function Row({session, group, isCurrent}: {session: Session; group: Group; isCurrent: boolean}) {
  const unread = session.max_seq - seenOf(session.session_id);
  const whose = me.value && session.client_id && session.client_id !== me.value.name ? session.client_id : '';
  const filter = place.value.query.get('filter') ?? '';
  return (
    <a class={`row ${isCurrent ? 'current' : ''}`} data-session-id={session.session_id}
      href={sessionPath(session.session_id, filter && `filter=${encodeURIComponent(filter)}`)}
      aria-current={isCurrent ? 'page' : undefined}>
      <span class={`sign ${group}`} aria-hidden="true">{signs[group]}</span>
      <span class="name">{nameOf(session)}</span>
      <span class="when"><Ago time={session.updated_at} /></span>
      <span class="hint">{[standing(session), session.acp_server, whose].filter(Boolean).join(' · ')}</span>
      {group === 'unread' && unread > 0 && <span class="badge" aria-label={`${unread} new events`}>{unread > 99 ? '99+' : unread}</span>}
    </a>);
}

function NoSessions() {
  return (
    <div class="empty">
      <h2>No sessions yet</h2>
      <p>A session records the messages and actions of an agent. {canAct()
        ? 'Start one with New session, or let an agent record its own:'
        : 'Sessions appear here as soon as they start.'}</p>
      {canAct() && <pre>{`curl -X POST ${location.origin}/api/sessions \\\n  -H 'Content-Type: application/json' -d '{"name": "first"}'`}</pre>}
    </div>);
}

// Shown next to the list while no session is selected.
export function Welcome() {
  const count = sessions.value.size;
  return (
    <div class="empty">
      <h1>Sessions</h1>
      <p>{count === 0 ? 'Agent messages and actions appear here.' : 'Select a session to read it, answer its agent, and send it messages.'}</p>
    </div>);
}
