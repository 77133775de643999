import type {AgentText} from '../api/types.ts';

// An answer as it streams in, before it is recorded. Offsets are bytes of UTF-8.
const encoder = new TextEncoder();
const decoder = new TextDecoder();

export interface Streamed {
  iteration: number;
  // Bytes before `text`: not 0 where only the end of a long answer was told.
  start: number;
  text: string;
  bytes: number;
}

// What is there after `piece`.
export function append(now: Streamed | null, piece: AgentText): Streamed {
  const size = encoder.encode(piece.text).length;
  const end = now ? now.start + now.bytes : 0;
  const isFresh = !now || piece.iteration !== now.iteration || piece.offset > end ||
    piece.offset < now.start;
  if (isFresh) {
    if (now && piece.iteration < now.iteration) return now;
    return {iteration: piece.iteration, start: piece.offset, text: piece.text, bytes: size};
  }
  if (piece.offset === end) {
    return {...now, text: now.text + piece.text, bytes: now.bytes + size};
  }
  const kept = decoder.decode(encoder.encode(now.text).subarray(0, piece.offset - now.start));
  return {...now, text: kept + piece.text, bytes: piece.offset - now.start + size};
}

// What is left of it once an answer of that iteration is recorded.
export const recorded = (now: Streamed | null, iteration: number): Streamed | null =>
  now && now.iteration > iteration ? now : null;
