import {isEnded, type Command, type CommandSpan, type TraceEntry} from './model.ts';

// A phase in the life of a command; times in milliseconds since the epoch.
export interface Phase {
  kind: 'queued' | 'delivered' | 'running';
  start: number;
  end: number;
  // Not ended yet: `end` is now.
  isOpen: boolean;
  worker?: string;
}

const after: Record<string, Phase['kind'] | undefined> = {
  queued: 'queued', returned: 'queued', sent: 'delivered', started: 'running',
};

// The phases of a command, derived from its trace. A command that is delivered twice has two queued phases.
export function phasesOf(command: Pick<Command, 'status' | 'trace' | 'correlation_id' | 'command' | 'target' | 'created_at'>, now: number): Phase[] {
  const phases: Phase[] = [];
  let open: Phase | null = null;
  for (const {stage, time, worker} of command.trace ?? []) {
    const at = Date.parse(time);
    if (Number.isNaN(at) || stage === 'late_result') continue;
    if (open) {
      open.end = at;
      open.isOpen = false;
      open = null;
    }
    const kind = after[stage];
    if (kind) phases.push(open = {kind, start: at, end: at, isOpen: true, ...(worker ? {worker} : {})});
  }
  if (open && !isEnded(command as Command)) open.end = Math.max(open.start, now);
  return phases;
}

// A span as drawn: start and end as fractions of the whole from 0 to 1, and its depth below the first.
export interface SpanRow {
  name: string;
  id?: string;
  worker?: string;
  depth: number;
  from: number;
  to: number;
  ms: number;
  isOpen: boolean;
}

// The spans of a command on one scale. Parents come before their children.
export function spanRows(spans: CommandSpan[], now: number): SpanRow[] {
  const start = Math.min(...spans.map(span => Date.parse(span.start)));
  const endOf = ({start: from, end}: CommandSpan) => (end ? Date.parse(end) : Math.max(Date.parse(from), now));
  const whole = Math.max(1, Math.max(...spans.map(endOf)) - start);
  // Derived from names, because ids can be absent: execution is below the delivery, everything else below the command.
  const depthOf = (name: string) => (name.startsWith('command ') ? 0 : /^(execute|work) /.test(name) ? 2 : 1);
  return spans.map(span => {
    const from = Date.parse(span.start) - start;
    const to = endOf(span) - start;
    return {name: span.name, depth: depthOf(span.name), from: from / whole, to: to / whole, ms: to - from,
      isOpen: !span.end, ...(span.span_id ? {id: span.span_id} : {}), ...(span.worker ? {worker: span.worker} : {})};
  });
}

// The trace id in a `traceparent`.
export const traceIdOf = (traceparent: string): string => traceparent.split('-')[1] ?? '';

// When a deadline expires, in milliseconds since the epoch.
export interface Deadline {
  name: string;
  at: number;
}

// The deadlines that apply in the command's current phase. `clocks` are in milliseconds.
export function deadlinesOf(command: Command, clocks: Record<string, number>): Deadline[] {
  if (isEnded(command)) return [];
  const trace = command.trace ?? [];
  const last = trace.at(-1);
  const at = (entry: TraceEntry | undefined) => (entry ? Date.parse(entry.time) : NaN);
  const registered = Date.parse(command.created_at);
  const found: Deadline[] = [];
  const add = (name: string, from: number) => {
    const clock = clocks[name];
    if (clock && !Number.isNaN(from)) found.push({name, at: from + clock});
  };
  if (last?.stage === 'queued' || last?.stage === 'returned') add('schedule_to_start', registered);
  if (last?.stage === 'sent') add('ack_wait', at(last));
  if (last?.stage === 'sent' || last?.stage === 'started') {
    add('start_to_close', at(trace.filter(({stage}) => stage === 'sent').at(-1)));
  }
  add('schedule_to_close', registered);
  return found.sort((a, b) => a.at - b.at);
}

// Formats milliseconds: "0.02 s", "3.4 s", "2 min 5 s", "1 h 2 min".
export function lasted(ms: number): string {
  if (ms < 0) return `−${lasted(-ms)}`;
  if (ms < 1) return '0 s';
  if (ms < 10) return `${Math.round(ms)} ms`;
  const s = ms / 1000;
  if (s < 1) return `${s.toFixed(2)} s`;
  if (s < 9.95) return `${s.toFixed(1)} s`;
  if (s < 59.5) return `${Math.round(s)} s`;
  const minutes = Math.floor(Math.round(s) / 60);
  if (minutes < 60) return Math.round(s) % 60 && minutes < 10 ? `${minutes} min ${Math.round(s) % 60} s` : `${minutes} min`;
  const hours = Math.floor(minutes / 60);
  if (hours < 48) return minutes % 60 ? `${hours} h ${minutes % 60} min` : `${hours} h`;
  return `${Math.floor(hours / 24)} days`;
}
