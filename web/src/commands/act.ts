import {newId, post} from '../api/http.ts';
import type {Command} from './model.ts';

// Request ids by command: a repeated request returns the same replay.
const replays = new Map<string, string>();

const path = (id: string) => `/commands/${encodeURIComponent(id)}`;

export const cancel = (id: string): Promise<unknown> => post(`${path(id)}/cancel`);

// Returns the command that repeats this one.
export function replay(id: string): Promise<Command> {
  let request = replays.get(id);
  if (!request) replays.set(id, request = newId());
  return post<Command>(`${path(id)}/replay`, {request_id: request});
}

export interface Replayed {
  done: number;
  refused: {id: string; error: unknown}[];
}

// Replays the commands, four at a time; `onDone` receives the progress.
export async function replayAll(
  ids: readonly string[], onDone: (so: Replayed) => void, one: (id: string) => Promise<unknown> = replay,
): Promise<Replayed> {
  const so: Replayed = {done: 0, refused: []};
  let next = 0;
  const work = async () => {
    while (next < ids.length) {
      const id = ids[next++]!;
      try {
        await one(id);
      } catch (error) {
        so.refused.push({id, error});
      }
      so.done++;
      onDone({...so});
    }
  };
  await Promise.all(Array.from({length: 4}, work));
  return so;
}
