import type {AgentText} from '../api/types.ts';
import {end} from '../ui/text.ts';

// The text of an answer while it streams in, before it is recorded. Offsets are UTF-8 bytes.
const encoder = new TextEncoder();
const decoder = new TextDecoder();

// Limit of the kept text in characters, the same as in the gateway: the full text is available once it is recorded.
export const maxText = 256 << 10;

export interface Streamed {
  iteration: number;
  // Bytes before `text`: not 0 if only the end of a long answer was received or kept.
  start: number;
  text: string;
  bytes: number;
}

// Truncates to less than the limit, so that the text does not shift with every chunk.
function kept(all: Streamed): Streamed {
  if (all.text.length <= maxText) return all;
  const text = end(all.text, maxText * 0.75);
  const bytes = encoder.encode(text).length;
  return {...all, start: all.start + all.bytes - bytes, text, bytes};
}

// The text after `piece`.
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

// The remaining text once an answer of that iteration is recorded.
export const recorded = (now: Streamed | null, iteration: number): Streamed | null =>
  now && now.iteration > iteration ? now : null;
