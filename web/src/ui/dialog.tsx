import {type ComponentChildren} from 'preact';
import {useId, useLayoutEffect, useRef} from 'preact/hooks';
import {isAway} from '../api/http.ts';

// A modal dialog. The browser moves the focus into it when it opens and back when it closes; both happen in the same
// step as the change of the page, so that an element focused later keeps the focus.
export function Dialog({title, onClose, children}: {title: string; onClose: () => void; children: ComponentChildren}) {
  const dialog = useRef<HTMLDialogElement>(null);
  const id = useId();
  useLayoutEffect(() => {
    const shown = dialog.current;
    shown?.showModal();
    return () => shown?.close();
  }, []);
  return (
    // A dialog that is closed because it is unmounted still sends `close`: ignored.
    <dialog ref={dialog} aria-labelledby={id} onClose={() => { if (dialog.current) onClose(); }}>
      <h2 id={id}>{title}</h2>
      {children}
    </dialog>);
}

// Confirms an action that cannot be undone.
export function Confirm({title, text, action, onYes, onNo}:
{title: string; text: string; action: string; onYes: () => void; onNo: () => void}) {
  return (
    <Dialog title={title} onClose={onNo}>
      <p>{text}</p>
      <div class="actions">
        <button type="button" onClick={onNo}>Cancel</button>
        <button type="button" class="danger" disabled={isAway.value} onClick={onYes}>{action}</button>
      </div>
    </Dialog>);
}
