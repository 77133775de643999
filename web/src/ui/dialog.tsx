import {type ComponentChildren} from 'preact';
import {useEffect, useId, useRef} from 'preact/hooks';
import {isAway} from '../api/http.ts';

// A modal dialog; focus goes into it and comes back.
export function Dialog({title, onClose, children}: {title: string; onClose: () => void; children: ComponentChildren}) {
  const dialog = useRef<HTMLDialogElement>(null);
  const id = useId();
  useEffect(() => {
    const before = document.activeElement;
    dialog.current?.showModal();
    return () => { if (before instanceof HTMLElement) before.focus(); };
  }, []);
  return (
    <dialog ref={dialog} aria-labelledby={id} onClose={onClose}>
      <h2 id={id}>{title}</h2>
      {children}
    </dialog>);
}

// Something that can't be taken back.
export function Confirm({title, text, action, keep = 'Keep', onYes, onNo}:
{title: string; text: string; action: string; keep?: string; onYes: () => void; onNo: () => void}) {
  return (
    <Dialog title={title} onClose={onNo}>
      <p>{text}</p>
      <div class="actions">
        <button type="button" onClick={onNo}>{keep}</button>
        <button type="button" class="danger" disabled={isAway.value} onClick={onYes}>{action}</button>
      </div>
    </Dialog>);
}
