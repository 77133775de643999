// The API's types for targets and their workers.

export interface Target {
  target: string;
  queued: number;
  // How long the oldest queued command has waited.
  oldest_ms?: number;
  delivered: number;
  running: number;
  workers_connected: number;
  workers_known: number;
  limit?: number;
}

export interface Doing {
  correlation_id: string;
  command: string;
  stage: string;
  since: string;
}
export interface Worker {
  worker: string;
  target: string;
  connected: boolean;
  last_seen_ms_ago: number;
  name?: string;
  version?: string;
  browser?: string;
  paused?: boolean;
  tabs?: {id?: number; tab_id?: number; title?: string; url?: string; active?: boolean}[];
  more_tabs?: number;
  doing?: Doing[];
  doing_for_others?: number;
}

// A queue whose oldest command has waited longer needs attention.
const longWaitMs = 10_000;

export const needsWorker = (target: Target): boolean => target.queued > 0 && target.workers_connected === 0;
export const isSlow = (target: Target): boolean => (target.oldest_ms ?? 0) > longWaitMs;

// The workers of a target, connected ones first.
export const orderWorkers = (workers: readonly Worker[], target: string): Worker[] =>
  workers.filter(each => !target || each.target === target).sort((a, b) =>
    Number(b.connected) - Number(a.connected) || a.last_seen_ms_ago - b.last_seen_ms_ago);
