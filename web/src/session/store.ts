import {computed, signal} from '@preact/signals';
import {call, get, post} from '../api/http.ts';
import {ReconnectingSocket, type SocketState} from '../api/socket.ts';
import type {AgentText, EventPage, JsonObject, Permission, QueuedMessage, QueueState, Session, SessionEvent, Told} from '../api/types.ts';
import {append, recorded, type Streamed} from '../sessions/agent_text.ts';
import {EventLog, type Part} from '../sessions/log.ts';
import {attempt, refuse} from '../ui/failure.tsx';
import {Folds} from './folds.ts';

// One session that is looked at: its events as far as they are loaded, and what it is doing.
const pageEvents = 200;
// Of what is loaded; the rest of a longer event is fetched when somebody wants to see it.
const maxEventBytes = 16_384;

// Milliseconds between two drawings of what streams in: as often as somebody can read.
const drawEveryMs = 50;
const drawHiddenEveryMs = 250;

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
  // What was asked for and has not come: pages come in the order in which they were asked for.
  private asked: ('first' | 'older' | 'newer')[] = [];
  // Events that came while all that is older is loaded: they are shown together. Null while it is not.
  readonly gathered = signal<SessionEvent[] | null>(null);
  private whenFirst: (() => void)[] = [];
  private whenDrawn: (() => void)[] = [];
  private refreshing = 0;
  // Reads of the session that were begun, and the latest of them that was answered.
  private reads = 0;
  private answered = 0;
  // Changes of the session that were told.
  private told = 0;
  private drawing = 0;
  private drawnAt = 0;

  constructor(readonly id: string) {
    this.socket = new ReconnectingSocket(() => `${this.path()}/ws`, {
      onMessage: told => this.take(told),
      onState: state => { this.state.value = state; },
      onGone: () => { this.isGone.value = true; },
    });
    void this.refresh();
  }

  close(): void {
    clearTimeout(this.refreshing);
    clearTimeout(this.drawing);
    this.socket.close();
  }

  path(more = ''): string {
    return `/sessions/${encodeURIComponent(this.id)}${more}`;
  }

  loadOlder(): void {
    if (!this.hasOlder.value || this.asked.includes('older')) return;
    this.load('older', this.log.firstSeq);
  }

  // The first ones, and then all that lies between; resolves once the first are there, or don't come.
  loadFirst(): Promise<void> {
    if (!this.hasOlder.value || this.log.gapAfter) return Promise.resolve();
    const done = new Promise<void>(resolve => this.whenFirst.push(resolve));
    if (!this.asked.includes('first')) this.load('first', 0);
    this.gather();
    return done;
  }

  private gather(): void {
    this.gathered.value ??= [];
    this.loadOlder();
  }

  private endGathering(gapAfter = this.log.gapAfter): void {
    const events = this.gathered.value;
    this.gathered.value = null;
    if (events) this.addEvents(events, gapAfter);
    this.endFirst();
  }

  // Once they are drawn, too.
  private endFirst(): void {
    if (this.whenFirst.length === 0) return;
    this.whenDrawn.push(...this.whenFirst.splice(0));
    this.draw();
  }

  // The event as it was recorded, in the place of the one that was cut.
  async loadWhole(seq: number): Promise<void> {
    const page = await attempt(() => get<EventPage>(`${this.path('/events')}?after_seq=${seq - 1}&limit=1`));
    const whole = page?.events[0];
    if (whole?.seq !== seq) return;
    this.log.replace(whole);
    this.draw();
  }

  answer(permission: Permission, option: string): Promise<unknown> {
    return attempt(() => post(this.path(`/permissions/${encodeURIComponent(permission.permission_id)}`), {option_id: option}));
  }

  // What changes the queue: how it stands afterwards is read again, whatever came of it.
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

  private load(which: 'first' | 'older' | 'newer', seq: number): void {
    const where: JsonObject = which === 'older' ? {before_seq: seq} : {after_seq: seq};
    const isAsked = this.socket.send('load_events', {...where, limit: pageEvents, max_event_bytes: maxEventBytes});
    if (isAsked) this.asked.push(which);
  }

  private take(told: Told): void {
    const {type, data} = told;
    if (told.seq !== undefined) {
      return this.addEvents([{seq: told.seq, timestamp: told.timestamp ?? '', type, data}]);
    }
    switch (type) {
      case 'connected': return this.begin(data);
      case 'events_loaded': return this.takePage(data as unknown as EventPage);
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
        // Notices are without what the agent tells of itself.
        if (before?.details) this.update({agent: {...before, ...this.session.value.agent, details: before.details}});
        return;
      }
      case 'queue_updated': case 'queue_message_sending': case 'queue_message_sent': return this.refreshSoon();
      case 'notices_missed': return this.refreshSoon();
      case 'request_failed':
        if (data.request === 'load_events') {
          this.asked.shift();
          this.endGathering();
        }
        return refuse(new Error(`${String(data.message)} ${String(data.hint ?? '')}`));
      default:
    }
  }

  private begin(data: JsonObject): void {
    this.permissions.value = (data.permissions ?? []) as unknown as Permission[];
    this.streamed.value = data.agent_text ? append(null, data.agent_text as unknown as AgentText) : null;
    if (data.agent) this.update({agent: data.agent as unknown as Session['agent']});
    this.asked = [];
    this.endGathering();
    if (this.isLoaded.value) this.load('newer', this.log.lastSeq);
    else this.load('older', Number(data.max_seq) + 1);
    if (this.log.gapAfter) this.gather();
    this.refreshSoon();
  }

  private takePage(page: EventPage): void {
    switch (this.asked.shift()) {
      case 'first': {
        const isApart = page.has_more && page.last_seq + 1 < this.log.firstSeq;
        this.addEvents(page.events, isApart ? page.last_seq : 0);
        return this.endFirst();
      }
      case 'older': return this.takeOlder(page);
      default:
        this.addEvents(page.events);
        if (page.has_more) this.load('newer', page.last_seq);
    }
  }

  private takeOlder(page: EventPage): void {
    const {gapAfter} = this.log;
    const hasOlder = page.has_more && page.first_seq > gapAfter + 1;
    const gathered = this.gathered.value;
    if (gathered) this.gathered.value = page.events.concat(gathered);
    else this.addEvents(page.events, hasOlder ? gapAfter : 0);
    this.hasOlder.value = hasOlder;
    this.isLoaded.value = true;
    if (!gathered) return;
    if (hasOlder) this.load('older', page.first_seq);
    else this.endGathering(0);
  }

  private addEvents(events: SessionEvent[], gapAfter?: number): void {
    if (!this.log.add(events, gapAfter)) return;
    for (const {type, data} of events) {
      if (type === 'agent_message' && typeof data.iteration === 'number') {
        this.streamed.value = recorded(this.streamed.value, data.iteration);
      }
      if (type === 'session_end') this.streamed.value = null;
    }
    this.draw();
  }

  // Many events within a moment are drawn once: the first of them at once.
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
      void this.refresh();
    }, 30);
  }

  private async refresh(): Promise<void> {
    const {told} = this;
    const read = ++this.reads;
    // Answers may overtake each other: one that was begun before tells of an earlier state.
    const isLatest = () => {
      if (read < this.answered) return false;
      this.answered = read;
      return true;
    };
    try {
      const [session, waiting, queue] = await Promise.all([
        get<Session>(this.path()), get<{messages: QueuedMessage[]}>(this.path('/queue')),
        get<QueueState>(this.path('/queue-settings'))]);
      if (!isLatest()) return;
      // What was told meanwhile may be newer.
      if (this.told === told) this.session.value = session;
      else this.refreshSoon();
      this.messages.value = waiting.messages;
      this.queue.value = queue;
      this.error.value = null;
    } catch (error) {
      if (isLatest()) this.error.value = error;
    }
  }
}
