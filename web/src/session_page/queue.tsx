import {useEffect, useRef, useState} from 'preact/hooks';
import {canAct, canActNow, isAway} from '../api/http.ts';
import type {QueuedMessage} from '../api/types.ts';
import {agentStatus, words} from '../session_list/groups.ts';
import {Confirm} from '../ui/dialog.tsx';
import {Boundary, refuse} from '../ui/failure.tsx';
import {useSingleKeys} from '../ui/keys.ts';
import {begin as beginOf} from '../ui/text.ts';
import {visible} from '../ui/visible.ts';
import {draftOf} from '../conversation/draft.ts';
import type {SessionStore} from './store.ts';

// How much of a message is shown before it is deleted, in UTF-16 units.
const maxShown = 300;

function beginningOf({message}: QueuedMessage): string {
  const text = visible(message);
  return text.length > maxShown ? `${beginOf(text, maxShown)}…` : text;
}

// The messages that wait for the agent, in the order in which they will be sent.
export function QueuePane({store}: {store: SessionStore}) {
  const messages = store.messages.value;
  const queue = store.queue.value;
  const [isClearing, setClearing] = useState(false);
  const [deleting, setDeleting] = useState<QueuedMessage | null>(null);
  const dragged = useRef('');
  const control = (action: string) => store.change('POST', '/queue-control', {action});
  const move = (id: string, position: number) => {
    if (position < 0 || position >= messages.length) return;
    void store.change('POST', `/queue/${id}/move`, {position});
  };
  useSingleKeys(event => {
    if (event.key === 'p' && !event.repeat && queue && canActNow()) void control(queue.paused ? 'resume' : 'pause');
  });
  useEffect(() => {
    if (queue && draftOf(store.id).keepEdits(new Set(messages.map(({id}) => id)))) {
      refuse(new Error('The message you were editing is no longer queued. Your edit was moved to the message box.'));
    }
  }, [messages, queue]);
  const session = store.session.value;
  const isNext = session !== null && agentStatus(session) && !session.turn_id && queue && !queue.paused;
  // A turn ended badly: a user must decide what happens to its message.
  const isStuck = queue?.paused && queue.pause_reason !== 'paused';
  return (
    <section class="pane queue" aria-labelledby="queue-title">
      <header>
        <h2 id="queue-title">{`Queue${messages.length ? ` ${messages.length}` : ''}`}</h2>
        {canAct() && queue && (
          <fieldset class="actions" disabled={isAway.value}>
            {queue.paused
              ? <button type="button" onClick={() => void control('resume')}>Resume</button>
              : <button type="button" class="quiet" onClick={() => void control('pause')}>Pause</button>}
            {messages.length > 1 && <button type="button" class="quiet" onClick={() => setClearing(true)}>Clear</button>}
          </fieldset>)}
      </header>
      {queue?.paused && (
        <div class="paused" role="status">
          <strong>{`Paused${queue.pause_reason ? `: ${words(queue.pause_reason)}` : ''}`}</strong>
          {queue.pause_message && <p>{queue.pause_message}</p>}
          {canAct() && isStuck && (
            <fieldset class="actions" disabled={isAway.value}>
              <button type="button" onClick={() => void control('retry')}>Retry</button>
              <button type="button" onClick={() => void control('skip')}>Skip</button>
            </fieldset>)}
        </div>)}
      {messages.length === 0 && <p class="hint">{`The queue is empty.${isNext ? ' Your next message goes to the agent immediately.' : ''}`}</p>}
      <ol aria-label="Queue">
        {messages.map((message, at) => (
          <Boundary key={message.id} what="This message">
            <Waiting message={message} at={at} store={store} move={move} onDelete={() => setDeleting(message)}
              onDrag={() => { dragged.current = message.id; }}
              onDrop={() => { if (dragged.current && dragged.current !== message.id) move(dragged.current, at); dragged.current = ''; }} />
          </Boundary>))}
      </ol>
      {queue && queue.delay_seconds > 0 && <p class="hint">{`Each message is sent ${queue.delay_seconds} s after the previous turn.`}</p>}
      {isClearing && <Confirm title="Clear the queue?" text={`${messages.length} unsent messages will be deleted.`}
        action="Clear queue" onNo={() => setClearing(false)}
        onYes={() => { setClearing(false); void store.change('DELETE', '/queue'); }} />}
      {deleting && <Confirm title="Delete this message?" text={beginningOf(deleting)}
        action="Delete message" onNo={() => setDeleting(null)}
        onYes={() => { setDeleting(null); void store.change('DELETE', `/queue/${deleting.id}`); }} />}
    </section>);
}

interface WaitingProps {
  message: QueuedMessage;
  at: number;
  store: SessionStore;
  move: (id: string, position: number) => void;
  // The rows move when a message is sent, so that a click may be on another one than the user meant.
  onDelete: () => void;
  onDrag: () => void;
  onDrop: () => void;
}

const focused = (node: HTMLElement | null) => node?.focus();

function Waiting({message, at, store, move, onDelete, onDrag, onDrop}: WaitingProps) {
  const draft = draftOf(store.id);
  const edited = draft.written.value.edits[message.id]?.text ?? null;
  const setEdited = (text: string | null) =>
    draft.edit(message.id, text === null ? null : {text, of: draft.written.peek().edits[message.id]?.of ?? message.message});
  const [isBegun, setBegun] = useState(false);
  const begin = () => {
    setBegun(true);
    setEdited(message.message);
  };
  const isSending = Boolean(message.turn_id);
  const save = async () => {
    if (edited !== null && edited.trim() && edited !== message.message &&
        !await store.change('PATCH', `/queue/${message.id}`, {message: edited, image_ids: message.image_ids})) return;
    // Text written meanwhile is not saved yet.
    if (draft.written.peek().edits[message.id]?.text === edited) setEdited(null);
  };
  if (edited !== null) {
    return (
      <li>
        <textarea aria-label="Edit message" rows={3} value={edited} ref={isBegun ? focused : undefined}
          onInput={event => setEdited(event.currentTarget.value)}
          onKeyDown={event => {
            if (event.key === 'Escape') setEdited(null);
            if (event.key === 'Enter' && (event.ctrlKey || event.metaKey) && canActNow()) void save();
          }} />
        <div class="actions">
          <button type="button" onClick={() => setEdited(null)}>Cancel</button>
          <button type="button" class="primary" disabled={isAway.value} onClick={() => void save()}>Save</button>
        </div>
      </li>);
  }
  return (
    <li draggable={canActNow() && !isSending} data-message-id={message.id} tabIndex={canAct() ? 0 : undefined}
      onDragStart={onDrag} onDragOver={event => event.preventDefault()} onDrop={onDrop}
      onKeyDown={event => {
        if (!canActNow() || event.target !== event.currentTarget) return;
        if (event.altKey && event.key === 'ArrowUp') { event.preventDefault(); move(message.id, at - 1); }
        if (event.altKey && event.key === 'ArrowDown') { event.preventDefault(); move(message.id, at + 1); }
        if (event.key === 'Delete') onDelete();
        if (event.key === 'Enter') begin();
      }}>
      <span class="text">{visible(message.message)}</span>
      {message.image_ids.length > 0 && <span class="chip">{message.image_ids.length === 1 ? '1 image' : `${message.image_ids.length} images`}</span>}
      {isSending ? <span class="hint">sending…</span> : canAct() && (
        <fieldset class="tools" disabled={isAway.value}>
          <Tool name="Move up" sign="↑" isOff={at === 0} act={() => move(message.id, at - 1)} />
          <Tool name="Move down" sign="↓" act={() => move(message.id, at + 1)} />
          <Tool name="Edit" sign="✎" act={begin} />
          <Tool name="Delete" sign="✕" act={onDelete} />
        </fieldset>)}
    </li>);
}

function Tool({name, sign, act, isOff = false}: {name: string; sign: string; act: () => void; isOff?: boolean}) {
  return <button type="button" class="quiet" aria-label={name} title={name} disabled={isOff} onClick={act}>{sign}</button>;
}
