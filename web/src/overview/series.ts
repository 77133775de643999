// The statistics that the gateway sends every second over /api/stats/ws. Totals count from the start of the tracker;
// members that a gateway can omit are optional.
export interface Stats {
  queued: number;
  oldest_ms?: number;
  registered: number;
  completed: number;
  dispatch_p50_ms?: number;
  dispatch_p99_ms?: number;
  journal_p99_ms?: number;
  payload_bytes?: number;
}

// Number of samples kept: rates are averaged over five seconds to be readable.
export const keptSamples = 6;

export interface Sample extends Stats {
  // Milliseconds since the epoch at which the sample arrived.
  at: number;
}

export function withSample(samples: readonly Sample[], stats: Stats, at: number): Sample[] {
  return [...samples.slice(-(keptSamples - 1)), {...stats, at}];
}

// Increase of a total per second. A total that has decreased was reset with its tracker: the rate is then unknown.
export function rateOf(samples: readonly Sample[], total: 'registered' | 'completed'): number {
  const first = samples[0];
  const last = samples.at(-1);
  if (!first || !last || last.at <= first.at || last[total] < first[total]) return 0;
  return (last[total] - first[total]) / ((last.at - first.at) / 1000);
}

// Formats bytes: "512 B", "12 MB".
export function sized(bytes: number): string {
  const units = ['B', 'KB', 'MB', 'GB'];
  let at = 0;
  let value = bytes;
  while (value >= 1024 && at < units.length - 1) { value /= 1024; at++; }
  return `${value >= 10 || at === 0 ? Math.round(value) : value.toFixed(1)} ${units[at]}`;
}

export const rated = (rate: number): string => `${rate >= 9.95 || rate === 0 ? Math.round(rate) : rate.toFixed(1)}/s`;
