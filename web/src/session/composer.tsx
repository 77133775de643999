import {useRef, useState} from 'preact/hooks';
import {ApiError, call, canAct, isAway, post} from '../api/http.ts';
import {agentStatus} from '../sessions/groups.ts';
import {attempt, Failure} from '../ui/failure.tsx';
import {useSingleKeys} from '../ui/keys.ts';
import {type Draft, emptyDraft, readDraft, writeDraft} from './draft.ts';
import type {SessionStore} from './store.ts';

// Where somebody writes to the agent.
export function Composer({store}: {store: SessionStore}) {
  const [draft, setDraft] = useState<Draft>(() => readDraft(store.id));
  const [isSending, setSending] = useState(false);
  const [error, setError] = useState<unknown>(null);
  const box = useRef<HTMLTextAreaElement>(null);
  const change = (next: Draft) => {
    setDraft(next);
    writeDraft(store.id, next);
  };
  useSingleKeys(event => {
    if (event.key !== 'm') return;
    event.preventDefault();
    box.current?.focus();
  });
  if (!canAct()) return null;

  const session = store.session.value;
  const isOver = session !== null && session.status !== 'active';
  const isOff = isOver || isSending || isAway.value || !draft.text.trim();
  const send = async (isNow: boolean) => {
    if (isOff) return;
    setSending(true);
    setError(null);
    try {
      await post(store.path('/queue'), {message: draft.text, prompt_id: draft.promptId,
        ...(draft.images.length ? {image_ids: draft.images.map(({id}) => id)} : {}), ...(isNow ? {now: true} : {})});
      change(emptyDraft());
    } catch (failure) {
      // It had arrived before.
      if (failure instanceof ApiError && failure.code === 'duplicate_prompt') change(emptyDraft());
      else setError(failure);
    } finally {
      setSending(false);
      box.current?.focus();
    }
  };
  const attach = async (files: Iterable<File>) => {
    let images = draft.images;
    for (const file of files) {
      if (!file.type.startsWith('image/')) continue;
      const added = await attempt(() => call<{id: string; name?: string}>('POST',
        store.path(`/images?name=${encodeURIComponent(file.name)}`), file, {type: file.type}));
      if (added) images = [...images.filter(({id}) => id !== added.id), {id: added.id, name: added.name ?? file.name}];
    }
    change({...draft, images});
  };
  const queue = store.queue.value;
  const hint = isAway.value ? 'The gateway is away: what you write is kept here.' : isOver ? 'The session has ended.'
    : queue?.paused ? 'The queue is paused: what you send waits.'
      : session?.turn_id ? 'The agent is at work: what you send waits its turn.'
        : queue && session && !queue.has_receiver && !agentStatus(session) ? 'Nobody receives messages yet: they wait.' : '';
  return (
    <form class="composer" onSubmit={event => { event.preventDefault(); void send(false); }}>
      {error !== null && <Failure error={error} />}
      {draft.images.length > 0 && (
        <div class="chips">
          {draft.images.map(image => (
            <span key={image.id} class="chip">{`Picture: ${image.name}`}
              <button type="button" class="quiet" aria-label={`Leave out ${image.name}`}
                onClick={() => change({...draft, images: draft.images.filter(({id}) => id !== image.id)})}>✕</button>
            </span>))}
        </div>)}
      <textarea ref={box} aria-label="Message" rows={3} value={draft.text} disabled={isOver}
        placeholder="Message to the agent…"
        onInput={event => change({...draft, text: event.currentTarget.value})}
        onPaste={event => {
          const files = [...(event.clipboardData?.files ?? [])];
          if (files.length === 0) return;
          event.preventDefault();
          void attach(files);
        }}
        onKeyDown={event => {
          if (event.key !== 'Enter' || !(event.ctrlKey || event.metaKey)) return;
          event.preventDefault();
          void send(event.shiftKey);
        }} />
      <div class="actions">
        <span class="hint">{hint}</span>
        <label class="button quiet">Attach a picture
          <input class="sr" type="file" accept="image/png,image/jpeg,image/gif,image/webp" multiple disabled={isOver || isAway.value}
            onChange={event => { void attach([...(event.currentTarget.files ?? [])]); event.currentTarget.value = ''; }} />
        </label>
        <button type="button" disabled={isOff} onClick={() => void send(true)}
          title="Past all others, and at once (Ctrl+Shift+Enter)">Send now</button>
        <button type="submit" class="primary" disabled={isOff}
          title="Behind those that wait (Ctrl+Enter)">Queue</button>
      </div>
    </form>);
}
