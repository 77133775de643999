import {key} from './http.ts';
import type {Json, Told} from './types.ts';

// State of a socket: 'live' once `connected` was received.
export type SocketState = 'connecting' | 'live' | 'lost' | 'closed';

export interface SocketEnds {
  onMessage: (told: Told) => void;
  onState: (state: SocketState) => void;
  // A reconnect is pointless, for example because the session was deleted (4404).
  onGone?: () => void;
}

const firstWaitMs = 250;
const maxWaitMs = 5_000;
const keepaliveMs = 15_000;
const ackMs = 5_000;
// Milliseconds that a connection must last before the reconnect delay is reset.
const stoodMs = 10_000;
const goneCode = 4404;
// Close code for a client that reads too slowly, and for a request that fails before `connected`.
const laterCode = 1013;

// A WebSocket that reconnects until it is closed: immediately, but only now and then, if it was too slow, when the
// network is back or when the page becomes visible; otherwise after 0.25 s to 5 s, increasing while connections are
// short-lived. A peer that does not answer a keepalive within 5 s is considered dead.
export class ReconnectingSocket {
  private socket: WebSocket | null = null;
  private waitMs = firstWaitMs;
  private timer = 0;
  private keepalive = 0;
  private ack = 0;
  private isWanted = true;
  private lastSeen = 0;
  // When the connection was established; 0 before that.
  private since = 0;
  // Whether the next reconnect can be immediate.
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
    // Browsers log an error for a socket that is closed before it is open.
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
    // A connection that never opens is treated like one that never answers.
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
    // Jitter: clients that lost the same gateway do not all reconnect at the same moment.
    const wait = isAtOnce ? 0 : this.waitMs * (0.75 + Math.random() / 2);
    if (isAtOnce) this.mayHurry = false;
    else this.waitMs = Math.min(this.waitMs * 2, maxWaitMs);
    this.timer = window.setTimeout(() => this.connect(), wait);
  }
}

// Calls `open` while the page is visible, and what it returned once the page has been hidden for `hiddenMs`. Returns a
// function that ends both.
export function whileVisible(open: () => () => void, hiddenMs: number): () => void {
  let close = hiddenMs > 0 ? open() : null;
  let timer = 0;
  const end = () => {
    close?.();
    close = null;
  };
  const look = () => {
    clearTimeout(timer);
    if (document.visibilityState === 'hidden') timer = window.setTimeout(end, hiddenMs);
    else close ??= open();
  };
  look();
  document.addEventListener('visibilitychange', look);
  return () => {
    clearTimeout(timer);
    document.removeEventListener('visibilitychange', look);
    end();
  };
}
