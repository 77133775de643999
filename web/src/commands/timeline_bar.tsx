import type {Command} from './model.ts';
import {lasted, phasesOf} from './timeline.ts';

// The phases of a command as a bar; the length of a part is its duration.
export function TimelineBar({command, now, isLarge}: {command: Command; now: number; isLarge?: boolean}) {
  const phases = phasesOf(command, now);
  const start = phases[0]?.start ?? 0;
  const whole = Math.max(1, (phases.at(-1)?.end ?? 0) - start);
  const words = phases.map(({kind, start: from, end}) => `${kind} ${lasted(end - from)}`).join(', ');
  return (
    <svg class={`timeline-bar${isLarge ? ' is-large' : ''}`} viewBox="0 0 100 10" preserveAspectRatio="none"
      role="img" aria-label={words || 'No trace'}>
      {phases.map(({kind, start: from, end}, at) => (
        <rect key={at} class={`phase-${kind}`} x={((from - start) / whole) * 100} y={0}
          width={Math.max(0.6, ((end - from) / whole) * 100)} height={10} />))}
    </svg>);
}
