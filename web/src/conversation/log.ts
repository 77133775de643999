import type {Json, JsonObject, SessionEvent} from '../api/types.ts';
import {isObject} from '../ui/json_value.ts';
import {sizeOf} from './cut.ts';

// The parts of a conversation, derived from its events only: the same events give the same parts, in whatever order and
// however often they arrived.

export type ToolStatus = 'queued' | 'running' | 'completed' | 'failed' | 'cancelled';

interface PartBase {
  key: string;
  seq: number;
  lastSeq: number;
  time: string;
  lastTime: string;
  // Omitted bytes, and the events they were omitted from.
  omitted?: number;
  cut?: number[];
}
export interface TextPart extends PartBase {
  kind: 'message' | 'thought';
  text: string;
  messageId?: string;
  iteration?: number;
  // Not recorded yet: still streaming in.
  isStreaming?: boolean;
}
export interface PromptPart extends PartBase {
  kind: 'prompt';
  text: string;
  images: {id: string; name: string; mime_type?: string}[];
  queueId?: string;
  number: number;
}
export interface ToolPart extends PartBase {
  kind: 'tool';
  id: string;
  title: string;
  status: ToolStatus;
  // The turn has ended without a final status from the agent.
  isAssumed?: boolean;
  tool: string;
  rawInput?: Json;
  rawOutput?: Json;
  content: JsonObject[];
  locations: JsonObject[];
  decisions: JsonObject[];
}
export interface PlanPart extends PartBase {
  kind: 'plan';
  entries: PlanEntry[];
}
export interface PlanEntry {
  content: string;
  status: string;
  priority: string;
}
export interface OtherPart extends PartBase {
  kind: 'permission' | 'turn_end' | 'session_start' | 'session_end' | 'file' | 'error' | 'unknown';
  type: string;
  data: JsonObject;
}
// Events between loaded ones that are not loaded yet.
export interface GapPart extends PartBase {
  kind: 'gap';
}
export type Part = TextPart | PromptPart | ToolPart | PlanPart | OtherPart | GapPart;

const text = (value: Json | undefined): string => (typeof value === 'string' ? value : '');
export const objects = (value: Json | undefined): JsonObject[] =>
  Array.isArray(value) ? value.filter(isObject) : [];

// The omitted bytes of a part after one more event.
const omittedOf = ({omitted = 0, cut = []}: Pick<PartBase, 'omitted' | 'cut'>, {seq, omitted_bytes: more}: SessionEvent) =>
  (more ? {omitted: omitted + more, cut: [...cut, seq]} : {});

// Maps the statuses of the Agent Client Protocol and of shell commands to common ones.
const statuses: Record<string, ToolStatus> = {
  pending: 'queued', queued: 'queued', in_progress: 'running', running: 'running',
  completed: 'completed', failed: 'failed', cancelled: 'cancelled',
};
const isFinal = (status: ToolStatus) => status !== 'queued' && status !== 'running';

// A file that a session has read or written.
export interface TouchedFile {
  path: string;
  seq: number;
  isWritten: boolean;
}

// Builds parts from events in order of seq. A changed part is a new object, so that views can detect the change by
// identity.
export class Reduction {
  readonly parts: Part[] = [];
  readonly files = new Map<string, TouchedFile>();
  plan: PlanPart | null = null;
  prompts = 0;
  lastSeq = 0;
  private readonly tools = new Map<string, number>();
  private readonly openTools = new Set<string>();
  private planAt = -1;

  add(event: SessionEvent): void {
    if (event.seq <= this.lastSeq) return;
    this.lastSeq = event.seq;
    const {data} = event;
    switch (event.type) {
      case 'agent_message': return this.say('message', event);
      case 'agent_thought': return this.say('thought', event);
      case 'user_prompt': {
        this.planAt = -1;
        this.prompts += 1;
        const images = objects(data.images) as unknown as PromptPart['images'];
        this.push({...this.base(event), kind: 'prompt', text: text(data.message), images,
          queueId: text(data.queue_id), number: this.prompts});
        return;
      }
      case 'tool_call': case 'tool_call_update': return this.tool(event);
      case 'plan': return this.planned(event);
      case 'permission': return this.decided(event);
      case 'file_read': case 'file_write': {
        this.touch(text(data.path), event.seq, event.type === 'file_write');
        return this.other('file', event);
      }
      case 'turn_end':
        this.endTools(data.outcome === 'completed' ? 'completed' : 'cancelled');
        return this.other(event.type, event);
      case 'session_start': case 'session_end': case 'error':
        return this.other(event.type, event);
      default: return this.other('unknown', event);
    }
  }

  // Events are missing before the next one that is added.
  skip(): void {
    this.push({key: `gap${this.lastSeq}`, kind: 'gap', seq: 0, lastSeq: this.lastSeq, time: '', lastTime: ''});
  }

  private base(event: SessionEvent): PartBase {
    return {key: `e${event.seq}`, seq: event.seq, lastSeq: event.seq, time: event.timestamp,
      lastTime: event.timestamp, ...omittedOf({}, event)};
  }
  private push(part: Part): number {
    return this.parts.push(part) - 1;
  }
  private other(kind: OtherPart['kind'], event: SessionEvent): void {
    this.push({...this.base(event), kind, type: event.type, data: event.data});
  }
  private touch(path: string, seq: number, isWritten: boolean): void {
    if (!path) return;
    const before = this.files.get(path);
    this.files.set(path, {path, seq, isWritten: isWritten || (before?.isWritten ?? false)});
  }

  private say(kind: TextPart['kind'], event: SessionEvent): void {
    const messageId = text(event.data.message_id);
    const iteration = typeof event.data.iteration === 'number' ? event.data.iteration : undefined;
    const last = this.parts.at(-1);
    if (last?.kind === kind && (last.messageId ?? '') === messageId && last.iteration === iteration) {
      this.parts[this.parts.length - 1] = {...last, text: last.text + text(event.data.text),
        lastSeq: event.seq, lastTime: event.timestamp, ...omittedOf(last, event)};
      return;
    }
    this.push({...this.base(event), kind, text: text(event.data.text),
      ...(messageId ? {messageId} : {}), ...(iteration === undefined ? {} : {iteration})});
  }

  private tool(event: SessionEvent): void {
    const {data} = event;
    const id = text(data.tool_call_id);
    if (!id) return this.other('unknown', event);
    let at = this.tools.get(id);
    if (at === undefined) {
      // An update without its call stands for the call until that arrives.
      const {omitted: _, cut: __, ...base} = this.base(event);
      at = this.push({...base, key: `t${id}`, kind: 'tool', id, title: '', status: 'queued',
        tool: '', content: [], locations: [], decisions: []});
      this.tools.set(id, at);
    }
    const part = {...(this.parts[at] as ToolPart)};
    part.lastSeq = event.seq;
    Object.assign(part, omittedOf(part, event));
    if (text(data.title)) part.title = text(data.title);
    else if (!part.title && text(data.name)) part.title = text(data.name);
    if (text(data.kind)) part.tool = text(data.kind);
    if (data.raw_input !== undefined && data.raw_input !== null) part.rawInput = data.raw_input;
    if (data.raw_output !== undefined && data.raw_output !== null) part.rawOutput = data.raw_output;
    if (Array.isArray(data.content)) part.content = objects(data.content);
    if (Array.isArray(data.locations)) part.locations = objects(data.locations);
    const told = statuses[text(data.status)];
    // A late call does not undo an end.
    if (told && (part.isAssumed || !isFinal(part.status))) {
      part.status = told;
      part.isAssumed = false;
      part.lastTime = event.timestamp;
    }
    if (isFinal(part.status)) this.openTools.delete(id);
    else this.openTools.add(id);
    for (const each of part.content) {
      if (each.type === 'diff') this.touch(text(each.path), event.seq, true);
    }
    for (const each of part.locations) this.touch(text(each.path), event.seq, part.tool === 'edit');
    this.parts[at] = part;
  }

  // Agents are not required to report the end of each call, and cannot after a crash.
  private endTools(status: ToolStatus): void {
    for (const id of this.openTools) {
      const at = this.tools.get(id)!;
      this.parts[at] = {...(this.parts[at] as ToolPart), status, isAssumed: true};
    }
    this.openTools.clear();
  }

  private planned(event: SessionEvent): void {
    const entries = objects(event.data.entries).map(each => ({
      content: text(each.content), status: text(each.status), priority: text(each.priority)}));
    const base = this.base(event);
    // One plan per turn, updated in place.
    const before = this.parts[this.planAt];
    const plan: PlanPart = before?.kind === 'plan'
      ? {...base, kind: 'plan', entries, key: before.key, seq: before.seq, time: before.time}
      : {...base, kind: 'plan', entries};
    if (before?.kind === 'plan') this.parts[this.planAt] = plan;
    else this.planAt = this.push(plan);
    this.plan = plan;
  }

  private decided(event: SessionEvent): void {
    const at = this.tools.get(text(event.data.tool_call_id));
    if (at === undefined) return this.other('permission', event);
    const part = this.parts[at] as ToolPart;
    this.parts[at] = {...part, lastSeq: event.seq, decisions: [...part.decisions, event.data]};
  }
}

// A range of seqs, inclusive.
export interface Span {
  from: number;
  to: number;
}

// The events of a session, of which some are loaded, and the parts derived from them.
export class EventLog {
  // By seq.
  readonly events: SessionEvent[] = [];
  // Fully loaded ranges, ordered and not adjacent. Not every seq has an event.
  private spans: Span[] = [];
  // Size of the data of all events, as JSON.
  private size = 0;
  private reduction = new Reduction();

  get parts(): Part[] { return this.reduction.parts; }
  get plan(): PlanPart | null { return this.reduction.plan; }
  get files(): TouchedFile[] { return [...this.reduction.files.values()]; }
  get bytes(): number { return this.size; }
  get lastSeq(): number { return this.events.at(-1)?.seq ?? 0; }
  // The first and last loaded seq; 0 if none.
  get start(): number { return this.spans[0]?.from ?? 0; }
  get end(): number { return this.spans.at(-1)?.to ?? 0; }
  // The last missing range.
  get hole(): Span | null {
    const [before, after] = this.spans.slice(-2);
    return before && after ? {from: before.to + 1, to: after.from - 1} : null;
  }

  // Takes all events of a range; some may be known. Returns whether anything has changed.
  add(events: readonly SessionEvent[], from = events[0]?.seq ?? 1, to = events.at(-1)?.seq ?? 0): boolean {
    if (to < from) return false;
    const {end} = this;
    if (from > end && events.every((each, at) => at === 0 || each.seq > events[at - 1]!.seq)) {
      const isApart = end > 0 && from > end + 1;
      if (isApart) this.reduction.skip();
      for (const each of events) this.reduction.add(each);
      for (const each of events) this.put(each);
      this.cover(from, to);
      return isApart || events.length > 0;
    }
    const holes = this.spans.length;
    this.cover(from, to);
    const known = new Set(this.events.map(({seq}) => seq));
    const fresh = events.filter(({seq}) => !known.has(seq) && known.add(seq));
    if (fresh.length === 0 && this.spans.length === holes) return false;
    for (const each of fresh) this.put(each);
    this.events.sort((a, b) => a.seq - b.seq);
    this.reduce();
    return true;
  }

  // Replaces a truncated event by the full one.
  replace(event: SessionEvent): void {
    const at = this.events.findIndex(({seq}) => seq === event.seq);
    if (at < 0) return;
    this.size += sizeOf(event) - sizeOf(this.events[at]!);
    this.events[at] = event;
    this.reduce();
  }

  // Forgets the oldest events until at most `most` bytes are left.
  forget(most: number): void {
    let count = 0;
    while (this.size > most && count < this.events.length - 1) this.size -= sizeOf(this.events[count++]!);
    if (count === 0) return;
    this.events.splice(0, count);
    const {seq} = this.events[0]!;
    this.spans = this.spans.filter(({to}) => to >= seq).map(({from, to}) => ({from: Math.max(from, seq), to}));
    this.reduce();
  }

  private put(event: SessionEvent): void {
    this.events.push(event);
    this.size += sizeOf(event);
  }

  private cover(from: number, to: number): void {
    const touched = this.spans.filter(each => each.from <= to + 1 && each.to >= from - 1);
    const all: Span = {from: Math.min(from, ...touched.map(each => each.from)), to: Math.max(to, ...touched.map(each => each.to))};
    this.spans = [...this.spans.filter(each => !touched.includes(each)), all].sort((a, b) => a.from - b.from);
  }

  private reduce(): void {
    this.reduction = reduce(this.events, this.events.length, this.spans);
  }
}

// With `spans`, the gaps between them become parts.
export function reduce(events: readonly SessionEvent[], count = events.length, spans: readonly Span[] = []): Reduction {
  const reduction = new Reduction();
  let span = 0;
  for (let at = 0; at < count && at < events.length; at++) {
    const event = events[at]!;
    if (event.seq > (spans[span]?.to ?? Infinity)) {
      while (event.seq > (spans[span]?.to ?? Infinity)) span++;
      reduction.skip();
    }
    reduction.add(event);
  }
  return reduction;
}
