import {useRef} from 'preact/hooks';
import {call, canAct, isAway, post} from '../api/http.ts';
import {agentStatus} from '../session_list/groups.ts';
import {attempt, Failure} from '../ui/failure.tsx';
import {useSingleKeys} from '../ui/keys.ts';
import {draftOf, type Picture} from '../conversation/draft.ts';
import type {SessionStore} from './store.ts';

// The message box.
export function Composer({store}: {store: SessionStore}) {
  const draft = draftOf(store.id);
  const {text, images} = draft.written.value;
  const error = draft.error.value;
  const form = useRef<HTMLFormElement>(null);
  const box = useRef<HTMLTextAreaElement>(null);
  useSingleKeys(event => {
    if (event.key !== 'm') return;
    event.preventDefault();
    box.current?.focus();
  });
  if (!canAct()) return null;

  const session = store.session.value;
  const isOver = session !== null && session.status !== 'active';
  const isOff = isOver || draft.isSending.value || draft.uploads.value > 0 || isAway.value || !text.trim();
  const send = async (isNow: boolean) => {
    if (isOff) return;
    await draft.send(isNow, message => post(store.path('/queue'), message));
    // Unless the user has moved the focus elsewhere meanwhile.
    const {activeElement} = document;
    if (activeElement === document.body || form.current?.contains(activeElement)) box.current?.focus();
  };
  const attach = (files: Iterable<File>) => draft.attach(files, async file => {
    const added = await attempt(() => call<{id: string; name?: string}>('POST',
      store.path(`/images?name=${encodeURIComponent(file.name)}`), file, {type: file.type}));
    return added && ({id: added.id, name: added.name ?? file.name} satisfies Picture);
  });
  const queue = store.queue.value;
  const hint = !draft.isKept.value ? 'This browser stores no data. Your draft is lost when you close the page.'
    : isAway.value ? 'Not connected. Your draft is kept.' : draft.uploads.value > 0 ? 'Uploading image…' : isOver ? 'The session has ended.'
    : queue?.paused ? 'The queue is paused. New messages wait.'
      : session?.turn_id ? 'The agent is working. New messages wait in the queue.'
        : queue && session && !queue.has_receiver && !agentStatus(session) ? 'No receiver is connected yet. New messages wait.' : '';
  return (
    <form class="composer" ref={form} onSubmit={event => { event.preventDefault(); void send(false); }}>
      {error !== null && <Failure error={error} />}
      {images.length > 0 && (
        <div class="chips">
          {images.map(image => (
            <span key={image.id} class="chip">{`Image: ${image.name}`}
              <button type="button" class="quiet" aria-label={`Remove ${image.name}`}
                onClick={() => draft.leaveOut(image.id)}>✕</button>
            </span>))}
        </div>)}
      <textarea ref={box} aria-label="Message" rows={3} value={text} disabled={isOver}
        placeholder="Message to the agent…"
        onInput={event => draft.write(event.currentTarget.value)}
        onPaste={event => {
          const files = [...(event.clipboardData?.files ?? [])];
          // If the clipboard has text as well, the image only shows how that text looked.
          if (files.length === 0 || event.clipboardData?.getData('text/plain')) return;
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
        <label class="button quiet">Attach image
          <input class="sr" type="file" accept="image/png,image/jpeg,image/gif,image/webp" multiple disabled={isOver || isAway.value}
            onChange={event => { void attach([...(event.currentTarget.files ?? [])]); event.currentTarget.value = ''; }} />
        </label>
        <button type="button" disabled={isOff} onClick={() => void send(true)}
          title="Skip the queue (Ctrl+Shift+Enter)">Send now</button>
        <button type="submit" class="primary" disabled={isOff}
          title="Add to the queue (Ctrl+Enter)">Queue</button>
      </div>
    </form>);
}
