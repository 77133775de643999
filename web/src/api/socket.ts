import {key} from './http.ts';
import type {Json, Told} from './types.ts';

// How a socket stands: 'live' once `connected` has come.
export type SocketState = 'connecting' | 'live' | 'lost' | 'closed';

export interface SocketEnds {
  onMessage: (told: Told) => void;
  onState: (state: SocketState) => void;
  // There is nothing to come back to, such as a session that was deleted (4404).
  onGone?: () => void;
}

const firstWaitMs = 250;
const longestWaitMs = 5_000;
const keepaliveMs = 15_000;
const ackMs = 5_000;
// Milliseconds for which a connection stands until the next one has not to wait as long as the one before.
const stoodMs = 10_000;
const goneCode = 4404;
// Of one that was too slow, and of one that was not to begin with.
const laterCode = 1013;

// A WebSocket that connects again for as long as it is wanted: at once where it was too slow, once in a
// while, the network is back or the page is looked at again, else after 0.25 s to 5 s, longer each time
// that it did not stand. A peer that does not answer a keepalive for 5 s is taken for dead.
export class ReconnectingSocket {
  private socket: WebSocket | null = null;
  private waitMs = firstWaitMs;
  private timer = 0;
  private keepalive = 0;
  private ack = 0;
  private isWanted = true;
  private lastSeen = 0;
  // When it was connected; 0 before that.
  private since = 0;
  // Whether the next one may come at once.
  private mayHurry = true;
  private readonly again = () => {
    if (document.visibilityState === 'visible' && this.timer) this.connect();
  };

  constructor(private readonly path: () => string, private readonly ends: SocketEnds) {
    addEventListener('online', this.again);
    document.addEventListener('visibilitychange', this.again);
    this.connect();
  }

  send(type: string, data: Json): boolean {
    if (this.socket?.readyState !== WebSocket.OPEN) return false;
    this.socket.send(JSON.stringify({type, data}));
    return true;
  }

  close(): void {
    this.isWanted = false;
    removeEventListener('online', this.again);
    document.removeEventListener('visibilitychange', this.again);
    this.drop();
    this.ends.onState('closed');
  }

  private drop(): void {
    clearTimeout(this.timer);
    clearTimeout(this.keepalive);
    clearTimeout(this.ack);
    this.timer = 0;
    const socket = this.socket;
    this.socket = null;
    if (!socket) return;
    socket.onopen = socket.onmessage = socket.onclose = null;
    // A browser complains of one that is closed before it is open.
    if (socket.readyState === WebSocket.CONNECTING) socket.onopen = () => socket.close();
    else socket.close();
  }

  private connect(): void {
    this.drop();
    this.since = 0;
    this.ends.onState('connecting');
    const url = new URL(`/api${this.path()}`, location.href);
    url.protocol = url.protocol === 'https:' ? 'wss:' : 'ws:';
    const mine = key();
    const socket = new WebSocket(url, mine ? ['callslip.v1', `callslip.key.${mine}`] : ['callslip.v1']);
    this.socket = socket;
    socket.onmessage = ({data}) => this.take(String(data));
    socket.onclose = ({code}) => this.lose(code);
    // One that never opens is no better than one that never answers.
    this.ack = window.setTimeout(() => this.lose(0), 2 * ackMs);
  }

  private take(text: string): void {
    clearTimeout(this.ack);
    clearTimeout(this.keepalive);
    this.keepalive = window.setTimeout(() => this.ask(), keepaliveMs);
    const told = JSON.parse(text) as Told;
    if (told.type === 'connected') {
      this.since = performance.now();
      this.ends.onState('live');
    }
    if (told.seq) this.lastSeen = told.seq;
    this.ends.onMessage(told);
  }

  private ask(): void {
    if (!this.send('keepalive', {last_seen_seq: this.lastSeen})) return;
    this.ack = window.setTimeout(() => this.lose(0), ackMs);
  }

  private lose(code: number): void {
    this.drop();
    if (!this.isWanted) return;
    if (code === goneCode && this.ends.onGone) {
      this.close();
      this.ends.onGone();
      return;
    }
    this.ends.onState('lost');
    if (this.since > 0 && performance.now() - this.since >= stoodMs) {
      this.waitMs = firstWaitMs;
      this.mayHurry = true;
    }
    const isAtOnce = code === laterCode && this.since > 0 && this.mayHurry;
    // Jitter: those who lost the same gateway do not all come back at the same moment.
    const wait = isAtOnce ? 0 : this.waitMs * (0.75 + Math.random() / 2);
    if (isAtOnce) this.mayHurry = false;
    else this.waitMs = Math.min(this.waitMs * 2, longestWaitMs);
    this.timer = window.setTimeout(() => this.connect(), wait);
  }
}
