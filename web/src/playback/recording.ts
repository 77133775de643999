import type {EventPage, SessionEvent} from '../api/types.ts';
import {reduce, Reduction, type Part} from '../conversation/log.ts';
import {Timeline} from './player.ts';

// Events per page, and bytes per event: longer ones are truncated, because playback needs no complete outputs.
const pageLimit = 1_000;
const eventBytes = 4_096;
// Maximum number of events played: the first ones.
export const maxEvents = 50_000;

export type PositionPage = EventPage & {next_position?: number};
export type ReadPage = (path: string, abort: AbortSignal) => Promise<PositionPage>;

// Loads all events of a session in order, page by page; `onLoaded` receives the number loaded so far.
export async function loadEvents(
  session: string, read: ReadPage, abort: AbortSignal, onLoaded: (loaded: number, length: number) => void,
  maxBytes = eventBytes,
): Promise<SessionEvent[]> {
  const events: SessionEvent[] = [];
  let position = 0;
  while (events.length < maxEvents) {
    const page = await read(`/sessions/${encodeURIComponent(session)}/events?position=${position}` +
      `&limit=${pageLimit}&max_event_bytes=${maxBytes}`, abort);
    for (const event of page.events) events.push(event);
    onLoaded(events.length, page.length);
    const next = page.next_position ?? position + page.events.length;
    if (!page.has_more || next <= position) break;
    position = next;
  }
  return events;
}

// The parts of a conversation at any position: moves forward by adding events, and backward by starting over.
export class Recording {
  readonly line: Timeline;
  private reduction = new Reduction();
  private position = 0;

  constructor(readonly events: readonly SessionEvent[]) {
    this.line = new Timeline(events.map(({timestamp}) => Date.parse(timestamp)));
  }

  at(position: number): Part[] {
    if (position < this.position) this.reduction = reduce(this.events, position);
    else for (let next = this.position; next < position; next++) this.reduction.add(this.events[next]!);
    this.position = position;
    return this.reduction.parts.slice();
  }
}
