// The last 15 minutes as returned by GET /api/stats/history, and how they are drawn. Times are milliseconds since the
// epoch, by the tracker's clock.
import {lasted} from '../commands/timeline.ts';
import {rated} from './series.ts';

// The activity of the tracker in one interval. Latencies are absent if there was nothing to measure.
export interface HistorySample {
  // The end and the length of the interval.
  time: string;
  length_ms: number;
  registered: number;
  completed: number;
  // By error code.
  failed: Record<string, number>;
  delivery_p50_ms?: number;
  delivery_p95_ms?: number;
  completion_p50_ms?: number;
  completion_p95_ms?: number;
  // At the end of the interval.
  queued: number;
  sessions: number;
  sessions_in_turn: number;
}

export interface History {
  // The tracker's time.
  time: string;
  // Oldest first.
  samples: HistorySample[];
}

export const shownMs = 15 * 60_000;

// An interval of a chart.
export interface Point {
  from: number;
  to: number;
}

export const pointsOf = (samples: readonly HistorySample[]): Point[] => samples.map(({time, length_ms}) => {
  const to = Date.parse(time);
  return {from: to - length_ms, to};
});

// The rate per second in each interval.
export const eachSecond = (samples: readonly HistorySample[], total: 'registered' | 'completed'): number[] =>
  samples.map(each => each[total] / Math.max(1, each.length_ms / 1000));

const failedIn = ({failed}: HistorySample) => Object.values(failed).reduce((sum, each) => sum + each, 0);

// Share of failed commands among those that ended, from 0 to 1; null if none ended.
export function failedShare(samples: readonly HistorySample[]): number | null {
  const failed = samples.reduce((sum, each) => sum + failedIn(each), 0);
  const ended = samples.reduce((sum, each) => sum + each.completed, failed);
  return ended === 0 ? null : failed / ended;
}

// An error code in words. The tracker counts the codes of workers and clients together.
export const causeWords = (code: string): string => (code === 'other' ? 'reported by workers' : code.replaceAll('_', ' '));

// Limit of distinct causes: their bars must differ without color, too.
export const maxCauses = 4;
// Length of a bar of failures: bars of 10 s would be too narrow to distinguish.
export const barMs = 30_000;

export interface Cause {
  name: string;
  // One value per point.
  values: number[];
  total: number;
}

// Failures by cause, the most frequent first. If there are more than `maxCauses`, the rest is combined.
export function failuresOf(samples: readonly HistorySample[]): {points: Point[]; causes: Cause[]} {
  const points: Point[] = [];
  const totals = new Map<string, number[]>();
  for (const {time, failed} of samples) {
    const to = Math.ceil(Date.parse(time) / barMs) * barMs;
    if (points.at(-1)?.to !== to) points.push({from: to - barMs, to});
    for (const [code, count] of Object.entries(failed)) {
      const values = totals.get(code) ?? [];
      totals.set(code, values);
      values[points.length - 1] = (values[points.length - 1] ?? 0) + count;
    }
  }
  const causes = [...totals].map(([code, values]): Cause => {
    const whole = points.map((_, at) => values[at] ?? 0);
    return {name: causeWords(code), values: whole, total: whole.reduce((sum, each) => sum + each, 0)};
  }).sort((a, b) => b.total - a.total || a.name.localeCompare(b.name));
  if (causes.length <= maxCauses) return {points, causes};
  const rest = causes.slice(maxCauses - 1);
  return {points, causes: [...causes.slice(0, maxCauses - 1), {
    name: `${rest.length} other causes`,
    values: points.map((_, at) => rest.reduce((sum, each) => sum + each.values[at]!, 0)),
    total: rest.reduce((sum, each) => sum + each.total, 0)}]};
}

// The unit of an axis.
export type Unit = 'rate' | 'ms' | 'count';

export function inUnit(unit: Unit, value: number): string {
  if (unit === 'rate') return rated(value);
  if (unit === 'count') return value.toLocaleString('en');
  return value > 0 && value < 1 ? '<1 ms' : lasted(value);
}

// Minimum upper end of an axis, so that very small values look small.
const leastTop: Record<Unit, number> = {rate: 0.5, ms: 1, count: 1};

// The upper end of an axis: 1, 2 or 5 with zeros, and a whole number of seconds or minutes.
export function topOf(unit: Unit, most: number): number {
  const scale = unit === 'ms' && most > 50_000 ? 60_000 : 1;
  const least = Math.max(most / scale, leastTop[unit]);
  const power = 10 ** Math.floor(Math.log10(least));
  return [1, 2, 5, 10].find(each => each * power >= least * 0.9999)! * power * scale;
}

// Charts are drawn in a box of 300 by 100.
export const boxWidth = 300;
export const boxHeight = 100;

export const xOf = (at: number, now: number): number => boxWidth * (1 - (now - at) / shownMs);
const yOf = (value: number, top: number) => boxHeight * (1 - value / top);
const place = (x: number, y: number) => `${x.toFixed(1)} ${y.toFixed(1)}`;

// Samples whose ends are further apart are not joined: the tracker was unavailable or blocked meanwhile.
const joinedMs = 25_000;

// A line through the values, with gaps where values are missing. An isolated value becomes a dot.
export function linePath(points: readonly Point[], values: readonly (number | null)[], top: number, now: number): {line: string; dots: string} {
  let line = '';
  let dots = '';
  let run: string[] = [];
  const end = () => {
    if (run.length === 1) dots += `M${run[0]}h0`;
    else if (run.length > 1) line += `M${run.join('L')}`;
    run = [];
  };
  points.forEach(({to}, at) => {
    const value = values[at] ?? null;
    if (value === null || (at > 0 && to - points[at - 1]!.to > joinedMs)) end();
    const x = xOf(to, now);
    if (value !== null && x >= 0) run.push(place(x, yOf(value, top)));
  });
  end();
  return {line, dots};
}

// Stacked bars, one path per series.
export function barPaths(points: readonly Point[], series: readonly (readonly number[])[], top: number, now: number): string[] {
  const below = points.map(() => 0);
  return series.map(values => points.map(({from, to}, at) => {
    const value = values[at] ?? 0;
    const left = Math.max(0, xOf(from, now) + 0.5);
    const right = Math.min(boxWidth, xOf(to, now) - 0.5);
    if (value === 0 || right <= left) return '';
    const low = below[at]!;
    below[at] = low + value;
    return `M${place(left, yOf(low, top))}V${yOf(low + value, top).toFixed(1)}H${right.toFixed(1)}V${yOf(low, top).toFixed(1)}z`;
  }).join(''));
}

// The index of the point nearest to a time; -1 if none is near.
export function pointAt(points: readonly Point[], at: number): number {
  let nearest = -1;
  let distance = joinedMs;
  points.forEach(({from, to}, index) => {
    const away = at < from ? from - at : at > to ? at - to : 0;
    if (away < distance) { nearest = index; distance = away; }
  });
  return nearest;
}
