// Replays a recorded session below the feed of its conversation; the address then has `play=POSITION`. The feed shows
// the parts passed to `onParts` instead of the live ones.
import {useEffect, useMemo, useRef, useState} from 'preact/hooks';
import {get, wordsOf} from '../api/http.ts';
import type {Part} from '../conversation/log.ts';
import {
  advance, faster, pause, play, seek, skipIdle, speeds, step, stopped, untilNext, type Playing,
} from './player.ts';
import {loadEvents, Recording, type PositionPage} from './recording.ts';

// Minimum milliseconds between two updates of the playback: a frame.
const frameMs = 16;
// Milliseconds that a position must be unchanged before it is written to the address.
const settledMs = 300;

export interface PlaybackProps {
  session: string;
  // The start position from the address; the end if absent.
  position?: number;
  onParts: (parts: Part[]) => void;
  // Receives a settled position, for the address.
  onSettled?: (position: number) => void;
  onClose: () => void;
}

export function Playback({session, position, onParts, onSettled, onClose}: PlaybackProps) {
  const [recording, setRecording] = useState<Recording | null>(null);
  const [told, setTold] = useState('Loading…');
  useEffect(() => {
    const abort = new AbortController();
    loadEvents(session, (path, signal) => get<PositionPage>(path, signal), abort.signal,
      (loaded, length) => setTold(`Loading… ${loaded.toLocaleString('en')} of ${length.toLocaleString('en')}`))
      .then(events => setRecording(new Recording(events)))
      .catch((error: unknown) => {
        if (!abort.signal.aborted) setTold(`${wordsOf(error).message} ${wordsOf(error).hint}`);
      });
    return () => abort.abort();
  }, [session]);
  return (
    <section class="playback" aria-label="Playback">
      {recording
        ? <Controls recording={recording} start={position ?? recording.line.length} onParts={onParts}
          onSettled={onSettled} onClose={onClose} />
        : <><span role="status">{told}</span><Close onClose={onClose} /></>}
    </section>);
}

const Close = ({onClose}: {onClose: () => void}) =>
  <button type="button" class="playback-close" aria-label="Close playback" onClick={onClose}>✕</button>;

interface ControlsProps extends Pick<PlaybackProps, 'onParts' | 'onSettled' | 'onClose'> {
  recording: Recording;
  start: number;
}

function Controls({recording, start, onParts, onSettled, onClose}: ControlsProps) {
  const {line} = recording;
  const [playing, setPlaying] = useState<Playing>(() => seek(stopped, line, start));
  const lookedAt = useRef(0);
  useEffect(() => onParts(recording.at(playing.position)), [recording, playing.position]);
  useEffect(() => {
    const wait = untilNext(playing, line);
    if (wait === null) return;
    lookedAt.current = performance.now();
    const timer = setTimeout(() => {
      setPlaying(now => advance(now, line, performance.now() - lookedAt.current));
    }, Math.min(Math.max(wait, frameMs), 2 ** 31 - 1));
    return () => clearTimeout(timer);
  }, [playing, line]);
  useEffect(() => {
    if (playing.isPlaying || !onSettled) return;
    const timer = setTimeout(() => onSettled(playing.position), settledMs);
    return () => clearTimeout(timer);
  }, [playing.position, playing.isPlaying]);

  const onKey = (event: KeyboardEvent) => {
    if (event.ctrlKey || event.metaKey || event.altKey || isTyping(event.target)) return;
    const isOnControl = event.target instanceof Element && event.target.closest('button, a, select, summary, [role=treeitem]');
    const by = event.shiftKey ? 10 : 1;
    if (event.key === ' ' && !isOnControl) setPlaying(now => (now.isPlaying ? pause(now) : play(now, line)));
    else if (event.key === 'ArrowRight') setPlaying(now => step(now, line, by));
    else if (event.key === 'ArrowLeft') setPlaying(now => step(now, line, -by));
    // These keys work only inside the player, because they can mean something else elsewhere.
    else if (event.key === ',' && isHere(event.target)) setPlaying(now => faster(now, -1));
    else if (event.key === '.' && isHere(event.target)) setPlaying(now => faster(now, 1));
    else return;
    event.preventDefault();
  };
  useEffect(() => {
    // A tree or a select has handled its own arrow keys by then.
    const heard = (event: KeyboardEvent) => { if (!event.defaultPrevented) onKey(event); };
    addEventListener('keydown', heard);
    return () => removeEventListener('keydown', heard);
  }, [line]);

  const {position, isPlaying, speed} = playing;
  const time = line.times[Math.max(0, position - 1)];
  const clock = time === undefined || Number.isNaN(time) ? '' : new Date(time).toLocaleTimeString();
  const words = `event ${position.toLocaleString('en')} of ${line.length.toLocaleString('en')}`;
  return (
    <>
      <div class="playback-buttons">
        <button type="button" aria-label="First event" onClick={() => setPlaying(seek(pause(playing), line, 0))}><Icon path="M3 3v10M13 3v10L5 8z" /></button>
        <button type="button" aria-label="Previous event" disabled={position === 0}
          onClick={() => setPlaying(step(playing, line, -1))}><Icon path="M10 3L5 8l5 5" isLine /></button>
        <button type="button" aria-label="Play" aria-pressed={isPlaying} class="playback-play" disabled={line.length === 0}
          onClick={() => setPlaying(isPlaying ? pause(playing) : play(playing, line))}><Icon path={isPlaying ? 'M5 3v10M11 3v10' : 'M4 2v12l10-6z'} isWide={isPlaying} /></button>
        <button type="button" aria-label="Next event" disabled={position === line.length}
          onClick={() => setPlaying(step(playing, line, 1))}><Icon path="M6 3l5 5-5 5" isLine /></button>
        <button type="button" aria-label="Last event"
          onClick={() => setPlaying(seek(pause(playing), line, line.length))}><Icon path="M13 3v10M3 3v10l8-5z" /></button>
      </div>
      <div class="playback-line">
        <Density recording={recording} />
        <input type="range" aria-label="Position" min={0} max={line.length} step={1} value={position}
          aria-valuetext={`${words}${clock && `, ${clock}`}`}
          onInput={event => setPlaying(seek(playing, line, Number(event.currentTarget.value)))} />
      </div>
      <span class="playback-where">{words} <time>{clock}</time></span>
      <label class="playback-speed">
        <span class="sr">Speed</span>
        <select value={String(speed)} onChange={event => setPlaying({...playing, speed: Number(event.currentTarget.value)})}>
          {speeds.map(each => <option key={each} value={String(each)}>{each}×</option>)}
        </select>
      </label>
      <label class="playback-idle">
        <input type="checkbox" checked={playing.skipsIdle}
          onChange={event => setPlaying(skipIdle(playing, line, event.currentTarget.checked))} /> Skip idle time
      </label>
      <Close onClose={onClose} />
    </>);
}

const Icon = ({path, isWide, isLine}: {path: string; isWide?: boolean; isLine?: boolean}) => (
  <svg class={`playback-icon${isWide ? ' is-wide' : ''}${isLine ? ' is-line' : ''}`} viewBox="0 0 16 16" aria-hidden="true"><path d={path} /></svg>);

const isHere = (target: EventTarget | null) => target instanceof Element && target.closest('.playback') !== null;

const isTyping = (target: EventTarget | null): boolean =>
  target instanceof Element && target.closest('input:not([type=checkbox]), textarea, select, [contenteditable]') !== null
  && !(target instanceof HTMLInputElement && target.type === 'range');

const densityParts = 100;

// The density of events, behind the slider.
function Density({recording}: {recording: Recording}) {
  const path = useMemo(() => recording.line.density(densityParts)
    .map((each, at, all) => {
      const width = densityParts / all.length;
      const height = Math.max(1, each * 20);
      return `M${(at * width).toFixed(2)} 20v${(-height).toFixed(1)}h${(width * 0.8).toFixed(2)}v${height.toFixed(1)}z`;
    }).join(''), [recording]);
  return (
    <svg class="playback-density" viewBox={`0 0 ${densityParts} 20`} preserveAspectRatio="none" aria-hidden="true">
      <path d={path} />
    </svg>);
}
