// A small chart of the last 15 minutes. The values at the selected time are shown next to it, for pointer and arrow-key
// users.
import type {TargetedFocusEvent, TargetedKeyboardEvent, TargetedPointerEvent} from 'preact';
import {clockTime} from '../ui/clock.ts';
import {barPaths, boxHeight, boxWidth, inUnit, linePath, pointAt, shownMs, topOf, xOf, type Point, type Unit} from './history.ts';

export interface Series {
  name: string;
  // One value per point; null if there is none.
  values: readonly (number | null)[];
  // The line style; bars use their index instead.
  look?: 'solid' | 'dashed' | 'dotted';
  // Shown in place of the newest value while no time is selected.
  whole?: number;
}

export interface ChartProps {
  title: string;
  unit: Unit;
  points: readonly Point[];
  series: readonly Series[];
  // Stacked bars instead of lines.
  isBars?: boolean;
  // Shown if there are no values.
  nothing?: string;
  // The time at the right edge, and the selected time, which all charts share.
  now: number;
  at: number | null;
  onAt: (at: number | null) => void;
}

const sum = (values: readonly (number | null)[]) => values.reduce<number>((all, each) => all + (each ?? 0), 0);

export function Chart({title, unit, points, series, isBars, nothing, now, at, onAt}: ChartProps) {
  const most = isBars
    ? Math.max(0, ...points.map((_, index) => sum(series.map(({values}) => values[index] ?? 0))))
    : Math.max(0, ...series.flatMap(({values}) => values.map(each => each ?? 0)));
  const top = topOf(unit, most);
  const last = points.length - 1;
  const chosen = at === null ? -1 : pointAt(points, at);
  const valueOf = (each: Series, index: number) => {
    const value = index < 0 ? null : each.values[index] ?? null;
    return value === null ? '–' : inUnit(unit, value);
  };
  const shown = (each: Series) =>
    at === null ? (each.whole === undefined ? valueOf(each, last) : inUnit(unit, each.whole)) : valueOf(each, chosen);
  const read = chosen < 0 ? last : chosen;
  const timeOf = (time: number) => clockTime(new Date(time).toISOString(), now);
  const words = points[read]
    && `${timeOf(points[read].to)}: ${series.map(each => `${each.name} ${valueOf(each, read)}`).join(', ') || nothing}`;

  const move = (event: TargetedKeyboardEvent<HTMLDivElement>) => {
    if (event.key === 'Escape') onAt(null);
    const keys: Record<string, number> = {ArrowLeft: read - 1, ArrowDown: read - 1, ArrowRight: read + 1, ArrowUp: read + 1, Home: 0, End: last};
    const to = keys[event.key];
    if (to === undefined) return;
    event.preventDefault();
    const next = points[Math.min(last, Math.max(0, to))];
    if (next) onAt(next.to);
  };
  // On keyboard focus: the shown values stay the same until the next key.
  const begin = ({currentTarget}: TargetedFocusEvent<HTMLDivElement>) => {
    if (currentTarget.matches(':focus-visible') && points[read]) onAt(points[read].to);
  };
  const point = (event: TargetedPointerEvent<HTMLDivElement>) => {
    const {left, width} = event.currentTarget.getBoundingClientRect();
    onAt(now - shownMs * (1 - (event.clientX - left) / width));
  };

  return (
    <figure class="chart">
      <figcaption>{title}{at === null && series[0]?.whole !== undefined && <span class="muted">total</span>}</figcaption>
      <ul class="legend">
        {series.map((each, index) => (
          <li key={each.name}><Swatch isBar={isBars} look={lookOf(each, index, isBars)} /> {each.name} <b>{shown(each)}</b></li>))}
      </ul>
      <div class="axis" aria-hidden="true"><span>{inUnit(unit, top)}</span><span>0</span></div>
      <div class="plot" role="slider" tabIndex={0} aria-label={title} aria-valuemin={0} aria-valuemax={Math.max(0, last)}
        aria-valuenow={Math.max(0, read)} aria-valuetext={words}
        onKeyDown={move} onFocus={begin} onBlur={() => onAt(null)} onPointerMove={point} onPointerDown={point}
        onPointerLeave={({pointerType}) => { if (pointerType !== 'touch') onAt(null); }}>
        <svg viewBox={`0 0 ${boxWidth} ${boxHeight}`} preserveAspectRatio="none" aria-hidden="true">
          <path class="grid" d={`M0 0H${boxWidth}M0 ${boxHeight / 2}H${boxWidth}M0 ${boxHeight}H${boxWidth}`} />
          {isBars
            ? barPaths(points, series.map(({values}) => values.map(each => each ?? 0)), top, now)
              .map((path, index) => <path key={index} class={`bar fill-${index}`} d={path} />)
            : series.map((each, index) => {
              const {line, dots} = linePath(points, each.values, top, now);
              return <g key={each.name} class={`line ${lookOf(each, index)}`}><path d={line} /><path class="dot" d={dots} /></g>;
            })}
          {chosen >= 0 && <path class="cursor" d={`M${xOf(points[chosen]!.to, now).toFixed(1)} 0V${boxHeight}`} />}
        </svg>
        {series.every(({values}) => values.every(each => each === null)) && <p>{nothing}</p>}
      </div>
      <p class="times"><span>15 min ago</span><span>{at !== null && timeOf(chosen < 0 ? at : points[chosen]!.to)}</span><span>now</span></p>
    </figure>);
}

const lookOf = ({look}: Series, index: number, isBar?: boolean) => (isBar ? `fill-${index}` : `is-${look ?? 'solid'}`);

function Swatch({isBar, look}: {isBar: boolean | undefined; look: string}) {
  return (
    <svg class="swatch" viewBox="0 0 22 10" width="22" height="10" aria-hidden="true">
      {isBar ? <path class={`bar ${look}`} d="M0 0H22V10H0z" /> : <g class={`line ${look}`}><path d="M0 5H22" /></g>}
    </svg>);
}

// Fill patterns, so that bars differ without color, too. Render once per page.
export function Fills() {
  return (
    <svg class="sr" width="0" height="0" aria-hidden="true">
      <pattern id="fill-1" width="5" height="5" patternUnits="userSpaceOnUse" patternTransform="rotate(45)"><path d="M0 0V5" /></pattern>
      <pattern id="fill-2" width="4" height="4" patternUnits="userSpaceOnUse"><circle cx="2" cy="2" r="1.2" /></pattern>
      <pattern id="fill-3" width="4" height="4" patternUnits="userSpaceOnUse"><path d="M0 1H4" /></pattern>
    </svg>);
}
