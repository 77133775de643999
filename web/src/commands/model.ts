import type {Json, JsonObject} from '../api/types.ts';

// A command as returned by the API. Members that do not apply are absent.
export type Status = 'pending' | 'complete' | 'error' | 'timeout' | 'expired' | 'cancelled';

export interface TraceEntry {
  stage: string;
  // RFC 3339.
  time: string;
  source: string;
  worker?: string;
}

export interface Command {
  correlation_id: string;
  command: string;
  target: string;
  client?: string;
  // The session of the command: 8 digits of an MCP session, or the id of a recorded session.
  session?: string;
  status: Status;
  // Of a pending command.
  stage?: string;
  revision?: number;
  // The tracker has forgotten the command.
  removed?: boolean;
  attempt?: number;
  progress?: {fraction?: number; message?: string};
  created_at: string;
  completed_at?: string;
  failed_at?: string;
  expired_at?: string;
  cancelled_at?: string;
  trace?: TraceEntry[];
  error?: string;
  message?: string;
  hint?: string;
  may_have_executed?: boolean;
  ordering_key?: string;
  priority?: number;
  replay_of?: string;
  request_id?: string;
}

// A span of the work for a command; a trace collector has the same one.
export interface CommandSpan {
  name: string;
  start: string;
  // Absent while the span is open.
  end?: string;
  worker?: string;
  // Present if the tracker records spans.
  span_id?: string;
  parent_span_id?: string;
}

// Additional members of a single command.
export interface CommandDetail extends Command {
  spans?: CommandSpan[];
  traceparent?: string;
  params?: Json;
  result?: Json;
  result_bytes?: number;
  late_result?: Json;
  // Milliseconds by clock name.
  deadlines_ms?: Record<string, number>;
  tab_id?: number;
  url?: string;
  context?: JsonObject;
}

export const isEnded = ({status}: Command): boolean => status !== 'pending';
// Whether it ended in a way from which it can be replayed.
export const isFailed = ({status}: Command): boolean =>
  status === 'error' || status === 'timeout' || status === 'expired';

const stageOf = ({status, stage}: Command): string => stage ?? status;
export const endedAt = (command: Command): string | undefined =>
  command.completed_at ?? command.failed_at ?? command.expired_at ?? command.cancelled_at;

// Status and stage as one word for display.
export function stateOf(command: Command): string {
  if (command.status === 'pending') return command.stage ?? 'pending';
  if (command.status === 'error') return 'failed';
  if (command.status === 'timeout') return 'timed out';
  return command.status;
}
const stateMarks: Record<Status, string> = {
  pending: '●', complete: '✔', error: '✖', timeout: '✖', expired: '✖', cancelled: '–',
};
export const markOf = ({status, stage}: Command): string => stage === 'queued' ? '○' : stateMarks[status];

// The worker that had it last.
export const workerOf = ({trace}: Command): string | undefined => trace?.findLast(({worker}) => worker)?.worker;

export interface CommandFilter {
  // '' shows all, 'live' those that have not ended, 'failed' those that can be replayed.
  status: string;
  target: string;
  text: string;
}
const stages = ['queued', 'delivered', 'running'];
export const filterStatuses = ['live', 'failed', ...stages, 'complete', 'error', 'timeout', 'expired', 'cancelled'];

export const filterOf = (query: URLSearchParams): CommandFilter => {
  const status = query.get('status') ?? '';
  return {status: filterStatuses.includes(status) ? status : '', target: query.get('target') ?? '', text: query.get('q') ?? ''};
};

export function matches(command: Command, {status, target, text}: CommandFilter): boolean {
  if (status === 'live' && isEnded(command)) return false;
  if (status === 'failed' && !isFailed(command)) return false;
  if (stages.includes(status) && (isEnded(command) || stageOf(command) !== status)) return false;
  if (status && ![...stages, 'live', 'failed'].includes(status) && command.status !== status) return false;
  if (target && command.target !== target) return false;
  if (!text) return true;
  const wanted = text.toLowerCase();
  return [command.correlation_id, command.command, command.target, command.session, command.client, command.error,
    command.message, workerOf(command), command.progress?.message, command.ordering_key, command.request_id]
    .some(each => each?.toLowerCase().includes(wanted));
}
