import {computed, signal} from '@preact/signals';
import {ApiError, get, isAway, me, whose} from '../api/http.ts';
import {Reread} from '../api/reread.ts';
import {ReconnectingSocket, type SocketState} from '../api/socket.ts';
import type {Session, Told} from '../api/types.ts';
import {announce} from '../ui/announce.ts';
import {notify} from './notify.ts';
import {keep, stored} from '../ui/storage.ts';
import {visible} from '../ui/visible.ts';
import {changed, groupOf, nameOf} from './groups.ts';
import {missedNotices, type Notice, noticeOf} from './notices.ts';

// All sessions visible to the user, live.

// Each user has their own.
const seenKey = () => `callslip-seen/${encodeURIComponent(me.peek()?.name ?? '')}`;
// Maximum number of sessions listed; others can be opened by their link.
const maxSessions = 2_000;

export const sessions = signal<ReadonlyMap<string, Session>>(new Map());
export const listed = signal(false);
export const listError = signal<unknown>(null);
export const connection = signal<SocketState>('connecting');
export const lastHeard = signal(0);
const seen = signal<Record<string, number>>({});

export const seenOf = (id: string): number => seen.value[id] ?? 0;
export const needing = computed(() =>
  [...sessions.value.values()].filter(each => groupOf(each, seenOf(each.session_id)) === 'needs').length);

function readSeen(): Record<string, number> {
  try {
    return JSON.parse(stored(seenKey()) ?? '{}') as Record<string, number>;
  } catch {
    return {};
  }
}

// The user has read the session up to `seq`.
export function markSeen(id: string, seq: number): void {
  if (seq <= seenOf(id)) return;
  const entries = Object.entries({...readSeen(), ...seen.value, [id]: seq});
  seen.value = Object.fromEntries(entries.slice(-maxSessions));
  keep(seenKey(), JSON.stringify(seen.value));
}

const query = (): string => (whose() ? `?client=${encodeURIComponent(whose())}` : '');
let socket: ReconnectingSocket | null = null;
// Messages received while the list is being loaded.
let meanwhile: Told[] | null = null;

export function follow(): void {
  seen.value = readSeen();
  socket?.close();
  socket = new ReconnectingSocket(() => `/events/ws${query()}`, {
    onMessage: take,
    onState: state => {
      if (state === 'lost' && connection.value === 'live') announce('Connection lost.');
      if (state === 'live' && connection.value === 'lost') announce('Connection restored.');
      // A reconnect attempt still counts as a lost connection.
      if (state !== 'connecting' || connection.value !== 'lost') connection.value = state;
      isAway.value = connection.value === 'lost';
      // A browser does not report the reason; the login may have expired.
      if (state === 'lost') void get('/me').catch(() => undefined);
    },
  });
}

export function unfollow(): void {
  socket?.close();
  socket = null;
  lists.stop();
  meanwhile = null;
  isAway.value = false;
  sessions.value = new Map();
  listed.value = false;
}

const lists = new Reread(list, error => { listError.value = error; });

async function list(abort: AbortSignal): Promise<void> {
  meanwhile = [];
  const found = new Map<string, Session>();
  try {
    let token = '';
    do {
      const more = token ? `&page_token=${encodeURIComponent(token)}` : '';
      const page = await get<{sessions: Session[]; next_page_token?: string}>(
        `/sessions?limit=500${whose() ? `&client=${encodeURIComponent(whose())}` : ''}${more}`, abort);
      for (const session of page.sessions) found.set(session.session_id, session);
      token = page.next_page_token ?? '';
    } while (token && found.size < maxSessions);
    if (abort.aborted) return;
    const before = sessions.value;
    sessions.value = found;
    // Later messages are notified below.
    const told = new Set(meanwhile.map(({data}) => data.session_id));
    for (const each of missedNotices(before, found)) if (!told.has(each.session)) tell(each);
    listed.value = true;
    listError.value = null;
  } finally {
    if (!abort.aborted) {
      const told = meanwhile;
      meanwhile = null;
      for (const each of told) apply(each);
    }
  }
}

function take(told: Told): void {
  lastHeard.value = Date.now();
  if (told.type === 'request_failed') {
    const {error, message, hint} = told.data;
    listError.value = new ApiError(0, String(error), String(message), String(hint ?? ''));
  } else if (told.type === 'connected') lists.anew();
  else if (told.type === 'notices_missed') lists.ask();
  else if (meanwhile) meanwhile.push(told);
  else apply(told);
}

function apply({type, data}: Told): void {
  const id = String(data.session_id ?? '');
  const before = sessions.value.get(id);
  const after = changed(before, type, data);
  if (after === undefined) return;
  const next = new Map(sessions.value);
  if (after === null) next.delete(id);
  else next.set(id, after);
  sessions.value = next;
  if (after && type === 'permission_asked') announce(`${nameOf(after)}: permission request: ${visible(String(data.title))}`);
  if (after && type === 'turn_ended') announce(`${nameOf(after)}: turn ${String(data.outcome)}`);
  const notice = after && noticeOf(after, type, data);
  if (notice) tell(notice, type === 'permission_asked');
}

// A question that was answered meanwhile is outdated.
function tell(notice: Notice, isQuestion = false): void {
  notify(notice, () => !isQuestion || Boolean(sessions.value.get(notice.session)?.open_permissions));
}

export const retryList = (): void => lists.anew();
