import {computed, signal} from '@preact/signals';
import {ApiError, call, get, post} from '../api/http.ts';
import {Reread} from '../api/reread.ts';
import {ReconnectingSocket, type SocketState} from '../api/socket.ts';
import type {AgentText, EventPage, JsonObject, Permission, QueuedMessage, QueueState, Session, SessionEvent, Told} from '../api/types.ts';
import {append, recorded, type Streamed} from '../conversation/agent_text.ts';
import {cut, sizeOf} from '../conversation/cut.ts';
import {EventLog, type Part, type Span} from '../conversation/log.ts';
import {attempt, refuse} from '../ui/failure.tsx';
import {Folds} from './folds.ts';

// The state of the displayed session: its loaded events, and its current activity.
const pageEvents = 200;
// Limit per event, loaded or live; the rest of a longer event is fetched on request.
const maxEventBytes = 16_384;
// Limit of all loaded events while more arrive: the oldest are dropped, down to three quarters of it, and loaded again
// when the user scrolls back. Doubled while the user views older events.
export const maxBytes = 32 << 20;
// Number of events that fit in any case, however long they are.
const maxMissed = maxBytes / maxEventBytes;

// Milliseconds until a failed page request is repeated, unless the error states a time.
const firstRetryMs = 250;
const maxRetryMs = 10_000;

// The events of a page: the first ones above a seq, or the last ones below it.
type Where = {after_seq: number} | {before_seq: number};

// Milliseconds between two renderings of streaming text: as often as a person can read.
const drawEveryMs = 50;
const drawHiddenEveryMs = 250;

const refusalOf = ({error, message, hint}: JsonObject): ApiError =>
  new ApiError(0, String(error), String(message), String(hint ?? ''));

export class SessionStore {
  readonly log = new EventLog();
  readonly folds = new Folds();
  readonly isSearching = signal(false);
  readonly session = signal<Session | null>(null);
  readonly permissions = signal<Permission[]>([]);
  readonly messages = signal<QueuedMessage[]>([]);
  readonly queue = signal<QueueState | null>(null);
  readonly state = signal<SocketState>('connecting');
  readonly error = signal<unknown>(null);
  readonly isGone = signal(false);
  readonly hasOlder = signal(false);
  readonly isLoaded = signal(false);
  // Whether the user is at the end, not at older events.
  isReadAtEnd = true;
  private readonly version = signal(0);
  private readonly streamed = signal<Streamed | null>(null);
  readonly parts = computed<Part[]>(() => {
    const count = this.version.value;
    const streamed = this.streamed.value;
    const parts = this.log.parts.slice();
    if (!streamed?.text) return parts;
    const time = new Date().toISOString();
    parts.push({kind: 'message', key: `s${streamed.iteration}`, seq: 0, lastSeq: count, time, lastTime: time,
      text: streamed.start > 0 ? `… ${streamed.text}` : streamed.text, iteration: streamed.iteration, isStreaming: true});
    return parts;
  });

  private readonly socket: ReconnectingSocket;
  // Why the last page request failed.
  readonly loadError = signal<unknown>(null);
  // The newest known seq, and the newest one at the start of the connection.
  private newest = 0;
  private joined = 0;
  // The current page request; one at a time.
  private loading: {id: string; where: Where} | null = null;
  private pages = 0;
  private retry = 0;
  private failures = 0;
  private wantsFirst = false;
  private wantsOlder = false;
  // A gap being filled from its end; its events are shown once all are loaded.
  private filling: {hole: Span; from: number; bytes: number} | null = null;
  readonly gathered = signal<SessionEvent[] | null>(null);
  // Whether loading must wait until the user leaves the older events.
  readonly isFull = signal(false);
  private whenFirst: (() => void)[] = [];
  private whenDrawn: (() => void)[] = [];
  private refreshing = 0;
  // Number of session changes received.
  private told = 0;
  private readonly reads = new Reread(abort => this.read(abort), error => { this.error.value = error; });
  private drawing = 0;
  private drawnAt = 0;

  constructor(readonly id: string) {
    this.socket = new ReconnectingSocket(() => `${this.path()}/ws`, {
      onMessage: told => this.take(told),
      onState: state => { this.state.value = state; },
      onGone: () => { this.isGone.value = true; },
    });
    this.reads.ask();
  }

  close(): void {
    this.reads.stop();
    clearTimeout(this.refreshing);
    clearTimeout(this.drawing);
    clearTimeout(this.retry);
    this.socket.close();
  }

  path(more = ''): string {
    return `/sessions/${encodeURIComponent(this.id)}${more}`;
  }

  loadOlder(): void {
    if (!this.hasOlder.value) return;
    this.wantsOlder = true;
    this.goOn();
  }

  // Loads the first events, and then everything in between; resolves once the first ones are loaded or have failed.
  loadFirst(): Promise<void> {
    if (!this.hasOlder.value) return Promise.resolve();
    const done = new Promise<void>(resolve => this.whenFirst.push(resolve));
    this.wantsFirst = true;
    this.goOn();
    return done;
  }

  // Resolves after the next rendering.
  private endFirst(): void {
    if (this.whenFirst.length === 0) return;
    this.whenDrawn.push(...this.whenFirst.splice(0));
    this.draw();
  }

  // Replaces truncated events by the complete ones.
  async loadWhole(...seqs: number[]): Promise<void> {
    for (const seq of seqs) {
      const page = await attempt(() => get<EventPage>(`${this.path('/events')}?after_seq=${seq - 1}&limit=1`));
      const whole = page?.events[0];
      if (whole?.seq !== seq) return;
      this.log.replace(whole);
      this.draw();
    }
  }

  answer(permission: Permission, option: string): Promise<unknown> {
    return attempt(() => post(this.path(`/permissions/${encodeURIComponent(permission.permission_id)}`), {option_id: option}));
  }

  // Changes the queue, and reads its state again afterwards, whatever the result.
  async change(method: string, path: string, body?: unknown): Promise<boolean> {
    try {
      await call(method, this.path(path), body);
      return true;
    } catch (error) {
      refuse(error);
      return false;
    } finally {
      this.refreshSoon();
    }
  }

  // Requests missing events, page by page, until none are missing.
  goOn(): void {
    if (this.loading || this.retry || this.state.value !== 'live') return;
    const where = this.missing();
    if (!where) return;
    const id = `${++this.pages}`;
    const isAsked = this.socket.send('load_events', {...where, limit: pageEvents, max_event_bytes: maxEventBytes, request_id: id});
    if (isAsked) this.loading = {id, where};
  }

  private missing(): Where | null {
    const {log, newest} = this;
    if (!this.isLoaded.value) return {before_seq: newest + 1};
    if (this.wantsFirst) return {after_seq: 0};
    if (this.wantsOlder) return {before_seq: log.start};
    if (!this.filling && !log.hole && newest <= log.end) return null;
    if (!this.makeRoom()) return null;
    if (this.filling) return {before_seq: this.filling.from};
    if (log.hole) return {before_seq: log.hole.to + 1};
    if (newest <= log.end) return null;
    // Events above `joined` arrive live, so they are not loaded from below; nor are more events than are certain to
    // fit.
    return log.end < this.joined && this.joined - log.end <= maxMissed ? {after_seq: log.end} : {before_seq: newest + 1};
  }

  private take(told: Told): void {
    const {type, data} = told;
    if (told.seq !== undefined) {
      this.newest = Math.max(this.newest, told.seq);
      this.addEvents([cut({seq: told.seq, timestamp: told.timestamp ?? '', type, data}, maxEventBytes)]);
      this.forget();
      return this.goOn();
    }
    switch (type) {
      case 'connected': return this.begin(data);
      case 'events_loaded':
        if (this.isAnswer(data)) this.takePage(data as unknown as EventPage);
        return;
      case 'keepalive_ack':
        this.newest = Math.max(this.newest, Number(data.max_seq ?? 0));
        return this.goOn();
      case 'agent_text':
        this.streamed.value = append(this.streamed.value, data as unknown as AgentText);
        return;
      case 'permission_asked': case 'permission_answered': case 'permission_cancelled':
        return this.takePermission(data as unknown as Permission);
      case 'turn_started':
        this.update({turn_id: String(data.turn_id)});
        return this.refreshSoon();
      case 'turn_ended':
        this.update({turn_id: ''});
        return this.refreshSoon();
      case 'agent_updated': return this.update({agent: data as unknown as Session['agent']});
      case 'session_updated': {
        const before = this.session.value?.agent;
        this.told++;
        this.session.value = data as unknown as Session;
        // These messages omit the details of the agent.
        if (before?.details) this.update({agent: {...before, ...this.session.value.agent, details: before.details}});
        return;
      }
      case 'queue_updated': case 'queue_message_sending': case 'queue_message_sent': return this.refreshSoon();
      case 'notices_missed': return this.refreshSoon();
      case 'request_failed':
        if (data.request === 'load_events') {
          if (this.isAnswer(data)) this.fail(data);
          return;
        }
        // Concerns the connection itself, which is retried.
        if (!data.request) {
          this.loadError.value = refusalOf(data);
          return;
        }
        return refuse(refusalOf(data));
      default:
    }
  }

  private begin(data: JsonObject): void {
    this.permissions.value = (data.permissions ?? []) as unknown as Permission[];
    this.streamed.value = data.agent_text ? append(null, data.agent_text as unknown as AgentText) : null;
    if (data.agent) this.update({agent: data.agent as unknown as Session['agent']});
    this.joined = Number(data.max_seq);
    this.newest = Math.max(this.newest, this.joined);
    this.loading = null;
    clearTimeout(this.retry);
    this.retry = this.failures = 0;
    this.loadError.value = null;
    // Keeps what was loaded of a gap, so that it is not requested again.
    this.settle();
    this.endFirst();
    this.goOn();
    this.reads.anew();
  }

  // Whether it answers the current page request.
  private isAnswer({request_id: id}: JsonObject): boolean {
    return this.loading !== null && id === this.loading.id;
  }

  private takePage(page: EventPage): void {
    const {where} = this.loading!;
    const {events, has_more: hasMore} = page;
    const [first, last] = [events[0]?.seq ?? 0, events.at(-1)?.seq ?? 0];
    // Retry, but not in an endless loop without a pause.
    if (hasMore && events.length === 0) return this.fail({message: 'The gateway returned an empty page of events.'});
    this.loading = null;
    this.failures = 0;
    this.loadError.value = null;
    if ('after_seq' in where) {
      this.addEvents(events, where.after_seq + 1, hasMore ? last : Math.max(last, this.joined));
      if (where.after_seq === 0) {
        this.wantsFirst = false;
        this.endFirst();
      }
    } else {
      this.takeBefore(events, hasMore ? first : 1, where.before_seq - 1);
    }
    this.goOn();
  }

  // Takes all events of a range.
  private takeBefore(events: SessionEvent[], from: number, to: number): void {
    const {log} = this;
    if (!this.isLoaded.value || to < log.start) {
      this.wantsOlder = false;
      this.addEvents(events, from, to);
      this.isLoaded.value = true;
      return;
    }
    const hole = this.filling?.hole ?? log.hole;
    if (hole && from > hole.from && to <= hole.to) {
      this.filling = {hole, from, bytes: events.reduce((sum, each) => sum + sizeOf(each), this.filling?.bytes ?? 0)};
      this.gathered.value = events.concat(this.gathered.value ?? []);
      return;
    }
    this.addEvents(events.concat(this.gathered.value ?? []), from, Math.max(to, this.filling ? hole!.to : 0));
    this.filling = this.gathered.value = null;
  }

  // Retries after the time that the gateway states, or else after increasing delays.
  private fail(data: JsonObject): void {
    this.loading = null;
    this.loadError.value = refusalOf(data);
    this.endFirst();
    const wait = Number(data.retry_after_ms ?? 0) || Math.min(firstRetryMs * 2 ** this.failures++, maxRetryMs);
    this.retry = window.setTimeout(() => {
      this.retry = 0;
      this.goOn();
    }, wait * (1 + Math.random() / 4));
  }

  // Adds what was loaded of a gap to the log.
  private settle(): void {
    const {filling} = this;
    if (filling && this.gathered.value) this.addEvents(this.gathered.value, filling.from, filling.hole.to);
    this.filling = this.gathered.value = null;
  }

  private get isEndSeen(): boolean { return this.isReadAtEnd && !this.isSearching.value; }
  private get most(): number { return this.isEndSeen ? maxBytes : 2 * maxBytes; }
  private get bytes(): number { return this.log.bytes + (this.filling?.bytes ?? 0); }

  // Whether there is room for another page of missing events.
  private makeRoom(): boolean {
    const most = this.most - pageEvents * maxEventBytes;
    if (this.isEndSeen) this.forget(most);
    else if (this.bytes > most) this.settle();
    this.isFull.value = this.bytes > most;
    return !this.isFull.value;
  }

  private forget(most = this.most): void {
    if (this.bytes <= most) return;
    this.settle();
    this.log.forget(maxBytes * 0.75);
    this.hasOlder.value = true;
    this.draw();
  }

  private addEvents(events: SessionEvent[], from?: number, to?: number): void {
    const isChanged = this.log.add(events, from, to);
    this.hasOlder.value = this.log.start > 1;
    if (!isChanged) return;
    for (const {type, data} of events) {
      if (type === 'agent_message' && typeof data.iteration === 'number') {
        this.streamed.value = recorded(this.streamed.value, data.iteration);
      }
      if (type === 'session_end') this.streamed.value = null;
    }
    this.draw();
  }

  // Renders many events within a short time at once; the first one immediately.
  private draw(): void {
    if (this.drawing) return;
    const every = document.visibilityState === 'visible' ? drawEveryMs : drawHiddenEveryMs;
    this.drawing = window.setTimeout(() => {
      this.drawing = 0;
      this.drawnAt = performance.now();
      this.version.value += 1;
      for (const resolve of this.whenDrawn.splice(0)) resolve();
    }, Math.max(0, this.drawnAt + every - performance.now()));
  }

  private takePermission(permission: Permission): void {
    const others = this.permissions.value.filter(each => each.permission_id !== permission.permission_id);
    this.permissions.value = permission.status === 'open' ? [...others, permission] : others;
  }

  private update(change: Partial<Session>): void {
    if (!this.session.value) return;
    this.told++;
    this.session.value = {...this.session.value, ...change};
  }

  private refreshSoon(): void {
    if (this.refreshing) return;
    this.refreshing = window.setTimeout(() => {
      this.refreshing = 0;
      this.reads.ask();
    }, 30);
  }

  private async read(abort: AbortSignal): Promise<void> {
    const {told} = this;
    const [session, waiting, queue] = await Promise.all([
      get<Session>(this.path(), abort), get<{messages: QueuedMessage[]}>(this.path('/queue'), abort),
      get<QueueState>(this.path('/queue-settings'), abort)]);
    if (abort.aborted) return;
    // Changes received meanwhile may be newer.
    if (this.told === told) this.session.value = session;
    else this.refreshSoon();
    this.messages.value = waiting.messages;
    this.queue.value = queue;
    this.error.value = null;
  }
}
