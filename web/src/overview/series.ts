// What the gateway tells once a second, as it comes over /api/stats/ws. Totals count since the tracker
// began; members that a gateway may not have are optional.
export interface Stats {
  time?: string;
  queued: number;
  oldest_ms?: number;
  registered: number;
  completed: number;
  failed: number;
  dispatch_p50_ms?: number;
  dispatch_p99_ms?: number;
  journal_p99_ms?: number;
  payload_bytes?: number;
}

// Samples that are kept: two minutes.
export const keptSamples = 120;

export interface Sample extends Stats {
  // Milliseconds since the epoch at which it came.
  at: number;
}

export function withSample(samples: readonly Sample[], stats: Stats, at: number): Sample[] {
  return [...samples.slice(-(keptSamples - 1)), {...stats, at}];
}

export type Total = 'registered' | 'completed' | 'failed';

// How much a total grew each second, between each two samples. A total that fell began anew with its
// tracker: what came before is not known.
export function ratesOf(samples: readonly Sample[], total: Total): number[] {
  const rates: number[] = [];
  for (let at = 1; at < samples.length; at++) {
    const before = samples[at - 1]!;
    const now = samples[at]!;
    const seconds = Math.max(0.001, (now.at - before.at) / 1000);
    rates.push(now[total] < before[total] ? 0 : (now[total] - before[total]) / seconds);
  }
  return rates;
}

// The last few as one number, so that it can be read.
const smoothed = 5;
export function recent(rates: readonly number[]): number {
  const last = rates.slice(-smoothed);
  return last.length === 0 ? 0 : last.reduce((sum, each) => sum + each, 0) / last.length;
}

// Failed of all that ended between the first sample and the last, from 0 to 1; null where nothing did.
export function failedShare(samples: readonly Sample[]): number | null {
  const sum = (total: Total) => {
    let grown = 0;
    for (let at = 1; at < samples.length; at++) grown += Math.max(0, samples[at]![total] - samples[at - 1]![total]);
    return grown;
  };
  const failed = sum('failed');
  const ended = failed + sum('completed');
  return ended === 0 ? null : failed / ended;
}

// Bytes in words: "512 B", "12 MB".
export function sized(bytes: number): string {
  const units = ['B', 'KB', 'MB', 'GB'];
  let at = 0;
  let value = bytes;
  while (value >= 1024 && at < units.length - 1) { value /= 1024; at++; }
  return `${value >= 10 || at === 0 ? Math.round(value) : value.toFixed(1)} ${units[at]}`;
}

export const rated = (rate: number): string => `${rate >= 9.95 || rate === 0 ? Math.round(rate) : rate.toFixed(1)}/s`;

// The line of a sparkline in a box of 100 by 24, the oldest value at the left; `room` values fit.
export function sparkPath(values: readonly number[], room: number): string {
  if (values.length < 2) return '';
  const most = Math.max(...values);
  const scale = most > 0 ? 22 / most : 0;
  const step = 100 / Math.max(1, room - 1);
  const start = 100 - (values.length - 1) * step;
  return values.map((value, at) =>
    `${at ? 'L' : 'M'}${(start + at * step).toFixed(1)} ${(23 - value * scale).toFixed(1)}`).join('');
}
