import type {AgentText} from '../api/types.ts';
import {end} from '../ui/text.ts';

// An answer as it streams in, before it is recorded. Offsets are bytes of UTF-8.
const encoder = new TextEncoder();
const decoder = new TextDecoder();

// Characters that are kept of it, as the gateway keeps them: all of it is there once it is recorded.
export const mostText = 256 << 10;

export interface Streamed {
  iteration: number;
  // Bytes before `text`: not 0 where only the end of a long answer was told, or is kept.
  start: number;
  text: string;
  bytes: number;
}

// Somewhat less than may be, so that not each piece moves all that is shown.
function kept(all: Streamed): Streamed {
  if (all.text.length <= mostText) return all;
  const text = end(all.text, mostText * 0.75);
  const bytes = encoder.encode(text).length;
  return {...all, start: all.start + all.bytes - bytes, text, bytes};
}

// What is there after `piece`.
export const append = (now: Streamed | null, piece: AgentText): Streamed => kept(joined(now, piece));

function joined(now: Streamed | null, piece: AgentText): Streamed {
  const size = encoder.encode(piece.text).length;
  const reached = now ? now.start + now.bytes : 0;
  const isFresh = !now || piece.iteration !== now.iteration || piece.offset > reached ||
    piece.offset < now.start;
  if (isFresh) {
    if (now && piece.iteration < now.iteration) return now;
    return {iteration: piece.iteration, start: piece.offset, text: piece.text, bytes: size};
  }
  if (piece.offset === reached) {
    return {...now, text: now.text + piece.text, bytes: now.bytes + size};
  }
  const before = decoder.decode(encoder.encode(now.text).subarray(0, piece.offset - now.start));
  return {...now, text: before + piece.text, bytes: piece.offset - now.start + size};
}

// What is left of it once an answer of that iteration is recorded.
export const recorded = (now: Streamed | null, iteration: number): Streamed | null =>
  now && now.iteration > iteration ? now : null;
