import {useEffect, useState} from 'preact/hooks';
import {get} from '../api/http.ts';
import type {Session} from '../api/types.ts';
import {inSlices} from '../diff/slices.ts';
import {loadEvents, maxEvents, type PositionPage} from '../playback/recording.ts';
import {reduce} from '../conversation/log.ts';
import {fileName, maxLength, TooLong, transcript} from '../conversation/transcript.ts';
import {Dialog} from '../ui/dialog.tsx';
import {Failure} from '../ui/failure.tsx';
import {save} from '../ui/save.ts';

// Limit of an event in bytes; for longer ones, the transcript states how much was omitted.
const eventBytes = 256 << 10;

// The whole recorded session, including events not loaded in the page. Rejects with TooLong.
async function load(session: Session, abort: AbortSignal, tell: (progress: string) => void): Promise<string> {
  let size = 0;
  const read = async (path: string, signal: AbortSignal) => {
    const page = await get<PositionPage>(path, signal);
    size += JSON.stringify(page.events).length;
    if (size > maxLength || page.length > maxEvents) throw new TooLong();
    return page;
  };
  const events = await loadEvents(session.session_id, read, abort, (loaded, length) =>
    tell(`Loading… ${loaded.toLocaleString('en')} of ${length.toLocaleString('en')} events`), eventBytes);
  tell('Writing…');
  return new Promise((resolve, reject) => {
    inSlices(transcript(session, reduce(events).parts), resolve, abort, undefined, reject);
  });
}

// Exports the conversation as text.
export function TranscriptDialog({session, onClose}: {session: Session; onClose: () => void}) {
  const [progress, setProgress] = useState('Loading…');
  const [text, setText] = useState<string | null>(null);
  const [error, setError] = useState<unknown>(null);
  useEffect(() => {
    const abort = new AbortController();
    load(session, abort.signal, setProgress).then(setText).catch((failure: unknown) => {
      if (!abort.signal.aborted) setError(failure);
    });
    return () => abort.abort();
  }, []);
  const copy = async () => {
    try {
      await navigator.clipboard.writeText(text!);
      setProgress('Copied');
    } catch {
      setProgress('This browser blocked copying. Download the file instead.');
    }
  };
  return (
    <Dialog title="Export conversation" onClose={onClose}>
      {error !== null && (
        <Failure error={error}>
          {error instanceof TooLong && <span>{`Read it page by page at /api/sessions/${session.session_id}/events.`}</span>}
        </Failure>)}
      {error === null && <p role="status">{text !== null && progress === 'Writing…' ? `${size(text)} of Markdown` : progress}</p>}
      <div class="actions">
        <button type="button" onClick={onClose}>{text === null && error === null ? 'Cancel' : 'Close'}</button>
        <button type="button" disabled={text === null}
          onClick={() => save(new Blob([text!], {type: 'text/markdown'}), fileName(session))}>Download</button>
        <button type="button" class="primary" disabled={text === null} onClick={() => void copy()}>Copy as Markdown</button>
      </div>
    </Dialog>);
}

const size = (text: string): string => {
  const {size: bytes} = new Blob([text]);
  return bytes < 1 << 20 ? `${Math.ceil(bytes / 1024)} KB` : `${(bytes / (1 << 20)).toFixed(1)} MB`;
};
