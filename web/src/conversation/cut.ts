import type {Json, JsonObject, SessionEvent} from '../api/types.ts';
import {begin} from '../ui/text.ts';

// Minimum length of truncated strings, in characters: shorter ones are meaningless, so whole members are removed
// instead.
const shortest = 256;

export const sizeOf = (event: SessionEvent): number => JSON.stringify(event.data).length;

function stringsIn(value: Json): number[] {
  const found: number[] = [];
  const left = [value];
  while (left.length > 0) {
    const each = left.pop()!;
    if (typeof each === 'string') found.push(each.length);
    else if (typeof each === 'object' && each !== null) for (const inner of Object.values(each)) left.push(inner);
  }
  return found.sort((a, b) => b - a);
}

// The length to which strings must be truncated to remove `excess` characters.
function lengthFor(lengths: readonly number[], excess: number): number {
  let sum = 0;
  for (const [at, length] of lengths.entries()) {
    sum += length;
    const to = Math.floor((sum - excess) / (at + 1));
    if (to >= (lengths[at + 1] ?? 0)) return Math.max(shortest, to);
  }
  return shortest;
}

function shortened(value: Json, length: number): Json {
  if (typeof value === 'string') return value.length > length ? begin(value, length) : value;
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map(each => shortened(each, length));
  return Object.fromEntries(Object.entries(value).map(([name, each]) => [name, shortened(each, length)]));
}

// Truncates an event as the gateway truncates loaded ones: the longest strings, all to the same length; if it has too
// many values for that, removes the largest members. Returns the same object if the event fits.
export function cut(event: SessionEvent, most: number): SessionEvent {
  const size = sizeOf(event);
  if (size <= most) return event;
  let data = event.data;
  // Escaped characters make JSON longer than the string itself, so several passes may be necessary.
  for (let tries = 0, now = size; tries < 4 && now > most; tries++) {
    data = shortened(data, lengthFor(stringsIn(data), now - most)) as JsonObject;
    now = JSON.stringify(data).length;
  }
  let left = JSON.stringify(data).length;
  if (left > most) {
    const members = Object.entries(data).map(([name, value]) => ({name, value, length: JSON.stringify(value).length}));
    members.sort((a, b) => b.length - a.length);
    const kept = members.filter(({length}) => {
      if (left <= most) return true;
      left -= length;
      return false;
    });
    data = Object.fromEntries(kept.map(({name, value}) => [name, value]));
  }
  return {...event, data, omitted_bytes: (event.omitted_bytes ?? 0) + size - JSON.stringify(data).length};
}
