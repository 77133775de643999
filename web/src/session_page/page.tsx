import type {ReadonlySignal} from '@preact/signals';
import type {ComponentChildren} from 'preact';
import {useEffect, useMemo, useRef, useState} from 'preact/hooks';
import {canAct, canActNow, isAway, post} from '../api/http.ts';
import {Playback} from '../playback/playback.tsx';
import {go, place, setQuery} from '../router.ts';
import {agentStatus, nameOf, standing, words} from '../session_list/groups.ts';
import type {Part} from '../conversation/log.ts';
import {markSeen} from '../session_list/store.ts';
import {duration, now} from '../ui/clock.ts';
import {Confirm} from '../ui/dialog.tsx';
import {attempt, Boundary, Failure} from '../ui/failure.tsx';
import {useSingleKeys} from '../ui/keys.ts';
import {visible} from '../ui/visible.ts';
import {type ListHandle, VirtualList} from '../ui/virtual_list.tsx';
import {AgentControls} from './agent.tsx';
import {Composer} from './composer.tsx';
import {useFeedKeys} from './feed_keys.ts';
import {PartView} from './parts.tsx';
import {Permissions} from './permissions.tsx';
import {QueuePane} from './queue.tsx';
import {Search, useSearchKeys} from './search.tsx';
import {SessionStore} from './store.ts';
import {TranscriptDialog} from './transcript.tsx';

// The page of a session: its conversation, its queue, and the questions of its agent.
export function SessionPage({id}: {id: string}) {
  const store = useMemo(() => new SessionStore(id), [id]);
  useEffect(() => () => store.close(), [store]);
  const played = place.value.query.get('play');
  if (store.isGone.value) {
    return (
      <div class="empty">
        <h1>Session not found</h1>
        <p>It was deleted, or it belongs to another client. <a href="/ui/sessions">All sessions</a></p>
      </div>);
  }
  return (
    <div class="session">
      <Section what="The session header" of={store.session}><Head store={store} /></Section>
      <div class="conversation">
        {store.error.value !== null && store.loadError.value === null && <Failure error={store.error.value} />}
        {played === null ? (
          <>
            <Section what="The conversation" of={store.parts}><Conversation store={store} /></Section>
            <Section what="The permission request" of={store.permissions}><Permissions store={store} /></Section>
            <Boundary what="The message box"><Composer key={id} store={store} /></Boundary>
          </>) : <Boundary what="The recording"><Played store={store} from={played} /></Boundary>}
      </div>
      <aside aria-label="Queue and plan">
        <Section what="The queue" of={store.messages}><QueuePane store={store} /></Section>
        <Section what="The plan" of={store.parts}><PlanPane store={store} /></Section>
        <Section what="The file list" of={store.parts}><FilesPane store={store} /></Section>
      </aside>
    </div>);
}

// If it cannot be displayed, it is tried again when its data change.
function Section({what, of, children}: {what: string; of: ReadonlySignal<unknown>; children: ComponentChildren}) {
  return <Boundary what={what} of={of.value}>{children}</Boundary>;
}

// Playback of the session, in place of the live view.
function Played({store, from}: {store: SessionStore; from: string}) {
  const [parts, setParts] = useState<Part[]>([]);
  const list = useRef<ListHandle>(null);
  useFeedKeys(parts, store.folds, list);
  // The start of the playback: later changes of the address, made by the playback itself, are ignored.
  const start = useMemo(() => (/^\d+$/.test(from) ? Number(from) : 0), [store.id]);
  return (
    <>
      <div class="feed">
        <VirtualList items={parts} keyOf={part => part.key} handle={list} label="Conversation"
          row={(part, at) => <PartView part={part} store={store} position={at + 1} count={parts.length} />} />
      </div>
      <Playback session={store.id} position={start} onParts={setParts}
        onSettled={position => setQuery({play: String(position)})} onClose={() => setQuery({play: ''})} />
    </>);
}

function Head({store}: {store: SessionStore}) {
  const session = store.session.value;
  const [isDeleting, setDeleting] = useState(false);
  const [isStopping, setStopping] = useState(false);
  const [isTaking, setTaking] = useState(false);
  const seen = useTurnTime(session?.turn_id ?? '');
  // The start of the turn: the time of its prompt, or, if that is not loaded, when the turn was first seen.
  const prompt = Date.parse(store.parts.value.findLast(({kind}) => kind === 'prompt')?.time ?? '');
  const begun = Math.min(prompt || seen, seen);
  useSingleKeys(event => {
    if (event.key !== 's' || event.repeat || !session?.turn_id || !canActNow()) return;
    event.preventDefault();
    setStopping(true);
  });
  if (!session) return <header class="session-head"><h1>{store.id}</h1></header>;
  const act = (path: string) => attempt(() => post(store.path(path)));
  return (
    <header class="session-head">
      <a class="back" href="/ui/sessions">← Sessions</a>
      <div class="what">
        <h1>{nameOf(session)}</h1>
        <p class="hint">{[session.acp_server, session.working_dir, session.client_id].filter(Boolean).join(' · ')}</p>
      </div>
      <p class="standing" role="status" aria-label="Agent">
        {session.turn_id ? `working for ${duration(now.value - begun)}` : standing(session) || agentStatus(session)}
        {session.agent?.message ? `: ${session.agent.message}` : ''}
      </p>
      {!place.value.query.has('play') && session.max_seq > 0 && (
        <div class="actions">
          <button type="button" class="quiet" onClick={() => { store.isSearching.value = true; }}>Search</button>
          <fieldset class="actions" disabled={isAway.value}>
            <button type="button" class="quiet" onClick={() => setTaking(true)}>Export</button>
            <button type="button" class="quiet" onClick={() => setQuery({play: '0'})}>Play back</button>
          </fieldset>
        </div>)}
      {canAct() && (
        <fieldset class="actions" disabled={isAway.value}>
          {session.turn_id && <button type="button" class="danger" onClick={() => void act('/stop')}>Stop</button>}
          <AgentControls store={store} session={session} />
          {session.status === 'active'
            ? <button type="button" class="quiet" onClick={() => void act('/end')}>End</button>
            : <button type="button" class="quiet" onClick={() => void act('/resume')}>Resume</button>}
          <button type="button" class="quiet" onClick={() => setDeleting(true)}>Delete</button>
        </fieldset>)}
      {isTaking && <TranscriptDialog session={session} onClose={() => setTaking(false)} />}
      {isStopping && <Confirm title="Stop the agent?" text="Its turn ends immediately, and the queue is paused." action="Stop agent"
        onNo={() => setStopping(false)} onYes={() => { setStopping(false); void act('/stop'); }} />}
      {isDeleting && <Confirm title="Delete the session?" text={`${nameOf(session)} and its whole conversation will be deleted. This cannot be undone.`}
        action="Delete session" onNo={() => setDeleting(false)}
        onYes={() => {
          setDeleting(false);
          void store.change('DELETE', '').then(isDone => { if (isDone) go('/ui/sessions'); });
        }} />}
    </header>);
}

// When the turn was first seen in this page.
function useTurnTime(turn: string): number {
  const begun = useRef({turn: '', at: 0});
  if (begun.current.turn !== turn) begun.current = {turn, at: Date.now()};
  return begun.current.at;
}

function Conversation({store}: {store: SessionStore}) {
  const parts = store.parts.value;
  const list = useRef<ListHandle>(null);
  const [isAtEnd, setAtEnd] = useState(true);
  const [read, setRead] = useState(0);
  const last = store.log.lastSeq;
  useEffect(() => {
    if (!isAtEnd || document.visibilityState !== 'visible') return;
    setRead(last);
    markSeen(store.id, last);
  }, [isAtEnd, last]);
  useFeedKeys(parts, store.folds, list);
  useSearchKeys(store);
  const fresh = parts.filter(({seq}) => seq > read).length;
  const unloaded = store.loadError.value !== null && (
    <Failure error={store.loadError.value}><span>Retrying to load missing events…</span></Failure>);
  if (!store.isLoaded.value) return <div class="empty" aria-busy="true">{unloaded || 'Loading conversation…'}</div>;
  if (parts.length === 0) {
    return <div class="empty"><h2>No messages yet</h2><p>{canAct() ? 'Write the first message below.' : 'Events will appear here.'}</p></div>;
  }
  return (
    <div class="feed">
      {unloaded && <div class="feed-failure">{unloaded}</div>}
      {store.isSearching.value && <Boundary what="The search"><Search store={store} parts={parts} list={list} /></Boundary>}
      <VirtualList items={parts} keyOf={part => part.key} handle={list} label="Conversation"
        busy={!store.isLoaded.value} onStart={() => store.loadOlder()} onAtEnd={is => { setAtEnd(is); store.isReadAtEnd = is; if (is) store.goOn(); }} onHome={() => store.loadFirst()}
        row={(part, at) => <PartView part={part} store={store} position={at + 1} count={parts.length} />} />
      {store.gathered.value && <p class="pill" role="status">{`Loading events in between: ${store.gathered.value.length.toLocaleString('en')}…`}</p>}
      {!isAtEnd && !store.gathered.value && (
        <button type="button" class="pill" onClick={() => list.current?.toEnd()}>
          {fresh > 0 ? `↓ ${fresh} new` : '↓ Latest'}
        </button>)}
    </div>);
}

function PlanPane({store}: {store: SessionStore}) {
  void store.parts.value;
  const entries = store.log.plan?.entries ?? [];
  if (entries.length === 0) return null;
  return (
    <section class="pane" aria-labelledby="plan-title">
      <h2 id="plan-title">{`Plan ${entries.filter(({status}) => status === 'completed').length}/${entries.length}`}</h2>
      <ul class="plan">
        {entries.map(({content, status}, at) => <li key={at} class={status}>{visible(content)}<span class="sr">{`, ${words(status)}`}</span></li>)}
      </ul>
    </section>);
}

function FilesPane({store}: {store: SessionStore}) {
  void store.parts.value;
  const {files} = store.log;
  if (files.length === 0) return null;
  return (
    <section class="pane" aria-labelledby="files-title">
      <h2 id="files-title">{`Files ${files.length}`}</h2>
      <ul class="files">
        {files.slice(-50).reverse().map(({path, isWritten}) => (
          <li key={path} title={path}><span class="hint">{isWritten ? 'wrote ' : 'read '}</span>{visible(path)}</li>))}
      </ul>
    </section>);
}
