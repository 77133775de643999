import type {Json, JsonObject} from '../api/types.ts';
import type {CommandDetail} from '../commands/model.ts';
import type {Worker} from '../commands/targets.ts';

// An entry of GET /api/mcp-clients.
export interface McpClient {
  // The name that the client reports; can be empty.
  name: string;
  client: string;
  last_call_ms_ago: number;
}

// A tab for the trial.
export interface Tab {
  target: string;
  id: number;
  title: string;
  url: string;
}

export const browsersOf = (workers: readonly Worker[]): Worker[] =>
  workers.filter(each => each.connected && each.tabs !== undefined);

// Tabs of connected browsers in which an agent can act: web pages not of this gateway, active ones first.
export function tabsOf(workers: readonly Worker[], origin: string): Tab[] {
  const found: (Tab & {isActive: boolean})[] = [];
  for (const {target, tabs} of browsersOf(workers).filter(({paused}) => !paused)) {
    for (const {tab_id: id, title, url, active} of tabs ?? []) {
      if (id === undefined || !url || !/^https?:/.test(url) || url.startsWith(`${origin}/`)) continue;
      found.push({target, id, title: title || url, url, isActive: active === true});
    }
  }
  return found.sort((a, b) => Number(b.isActive) - Number(a.isActive)).map(({isActive: _, ...tab}) => tab);
}

const objectIn = (value: Json | undefined): JsonObject =>
  (value !== null && typeof value === 'object' && !Array.isArray(value) ? value : {});

// The title found by a `get_page`; null until it is complete. (Not by a script: many pages forbid those.)
export function titleOf({status, result}: CommandDetail): string | null {
  if (status !== 'complete') return null;
  // Extensions return it in `data`; other workers may not.
  const told = objectIn(result);
  const page = told.data === undefined ? told : objectIn(told.data);
  return typeof page.title === 'string' ? page.title : '';
}
