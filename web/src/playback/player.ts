// Plays recorded events by their time. A position counts the events shown: 0 shows none, `length` all. Has no clock of
// its own: the caller passes the elapsed time.

export const speeds = [1, 2, 4, 8, 16, 32] as const;

// A longer gap is idle time, and takes `skippedMs` if idle time is skipped.
export const idleMs = 2_000;
const skippedMs = 300;

export class Timeline {
  // Milliseconds from the first event to each, as played; never decreasing, even if clocks were set back.
  private readonly asItWas: Float64Array;
  private readonly withoutIdle: Float64Array;

  // Milliseconds since the epoch, by index from 0; NaN for a time that cannot be parsed.
  constructor(readonly times: readonly number[]) {
    this.asItWas = new Float64Array(times.length);
    this.withoutIdle = new Float64Array(times.length);
    let latest = times.find(Number.isFinite) ?? 0;
    for (let at = 1; at < times.length; at++) {
      const time = Number.isFinite(times[at]) ? Math.max(latest, times[at]!) : latest;
      const gap = time - latest;
      this.asItWas[at] = this.asItWas[at - 1]! + gap;
      this.withoutIdle[at] = this.withoutIdle[at - 1]! + (gap > idleMs ? skippedMs : gap);
      latest = time;
    }
  }

  get length(): number { return this.times.length; }
  offsets(skipsIdle: boolean): Float64Array { return skipsIdle ? this.withoutIdle : this.asItWas; }

  // The density of events along the positions, in `count` parts, each from 0 (idle) to 1, on a logarithmic scale.
  density(count: number): number[] {
    const {length} = this;
    const rates = Array.from({length: Math.min(count, length)}, (_, part, parts = Math.min(count, length)) => {
      const from = Math.floor((part * length) / parts);
      const to = Math.floor(((part + 1) * length) / parts);
      const start = this.asItWas[Math.max(0, from - 1)]!;
      const took = Math.max(1, this.asItWas[to - 1]! - start);
      return Math.log1p(((to - from) / took) * 60_000);
    });
    const most = Math.max(...rates, 1);
    return rates.map(rate => rate / most);
  }
}

export interface Playing {
  position: number;
  // Milliseconds played since the first event, on the timeline with or without idle time.
  offset: number;
  isPlaying: boolean;
  speed: number;
  skipsIdle: boolean;
}

export const stopped: Playing = {position: 0, offset: 0, isPlaying: false, speed: 1, skipsIdle: true};

const offsetAt = (line: Timeline, position: number, skipsIdle: boolean): number =>
  position <= 0 ? 0 : line.offsets(skipsIdle)[Math.min(position, line.length) - 1] ?? 0;

export function seek(playing: Playing, line: Timeline, position: number): Playing {
  const to = Number.isFinite(position) ? Math.max(0, Math.min(line.length, Math.round(position))) : 0;
  return {...playing, position: to, offset: offsetAt(line, to, playing.skipsIdle),
    isPlaying: playing.isPlaying && to < line.length};
}

// Steps pause the playback, so that it does not continue while the user inspects single events.
export const step = (playing: Playing, line: Timeline, by: number): Playing =>
  ({...seek(playing, line, playing.position + by), isPlaying: false});

// Starts over if the position is at the end.
export function play(playing: Playing, line: Timeline): Playing {
  if (line.length === 0) return playing;
  const from = playing.position >= line.length ? seek(playing, line, 0) : playing;
  return {...from, isPlaying: true};
}
export const pause = (playing: Playing): Playing => ({...playing, isPlaying: false});

export function faster(playing: Playing, by: 1 | -1): Playing {
  const at = speeds.indexOf(playing.speed as 1) + by;
  return {...playing, speed: speeds[Math.max(0, Math.min(speeds.length - 1, at))]!};
}

export const skipIdle = (playing: Playing, line: Timeline, skipsIdle: boolean): Playing =>
  ({...playing, skipsIdle, offset: offsetAt(line, playing.position, skipsIdle)});

// Advances the playback by `elapsedMs` of real time.
export function advance(playing: Playing, line: Timeline, elapsedMs: number): Playing {
  if (!playing.isPlaying) return playing;
  const offset = playing.offset + Math.max(0, elapsedMs) * playing.speed;
  const offsets = line.offsets(playing.skipsIdle);
  // The first event that is not due yet.
  let low = playing.position;
  let high = line.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (offsets[middle]! <= offset) low = middle + 1;
    else high = middle;
  }
  return {...playing, offset, position: low, isPlaying: low < line.length};
}

// Milliseconds until the next event is due; null if nothing plays.
export function untilNext(playing: Playing, line: Timeline): number | null {
  if (!playing.isPlaying || playing.position >= line.length) return null;
  return Math.max(0, line.offsets(playing.skipsIdle)[playing.position]! - playing.offset) / playing.speed;
}
