import {signal} from '@preact/signals';
import {useEffect} from 'preact/hooks';
import {get, whose} from '../api/http.ts';
import {Reread} from '../api/reread.ts';
import {ReconnectingSocket, type SocketState, whileVisible} from '../api/socket.ts';
import type {Json} from '../api/types.ts';
import type {Command} from './model.ts';
import {CommandStore} from './store.ts';

// All commands visible to the user, live while a page shows them.

export const rows = signal<readonly Command[]>([]);
export const feed = signal<SocketState>('closed');
export const isListed = signal(false);
// Why the last attempt to list them failed.
export const failed = signal<unknown>(null);
export const store = new CommandStore();

// Rows per page and maximum number of pages; further commands appear as soon as they change.
const pageLimit = 200;
const maxPages = 50;
// Milliseconds that the feed stays open while no page shows it, or while the page is hidden.
const lingerMs = 10_000;
const hiddenMs = 300_000;

interface CommandPage {
  commands: Command[];
  next_page_token?: string;
}

let close: (() => void) | null = null;
let users = 0;
let linger = 0;
let drawing = 0;

const query = () => (whose() ? `client=${encodeURIComponent(whose())}` : '');

// Draws once for many batches.
function draw(): void {
  if (drawing) return;
  drawing = window.setTimeout(() => {
    drawing = 0;
    rows.value = store.sorted();
  }, 50);
}

const lists = new Reread(list, error => { failed.value = error; });

async function list(abort: AbortSignal): Promise<void> {
  store.listing();
  const found: Command[] = [];
  let token = '';
  for (let page = 0; page < maxPages; page++) {
    const told: CommandPage = await get<CommandPage>(
      `/commands?${query()}&limit=${pageLimit}${token && `&page_token=${encodeURIComponent(token)}`}`, abort);
    found.push(...told.commands);
    token = told.next_page_token ?? '';
    if (!token) break;
  }
  if (abort.aborted) return;
  store.listed(found, token === '');
  isListed.value = true;
  failed.value = null;
  draw();
}

function open(): () => void {
  // Lists the commands before the feed is connected, and again once it is.
  lists.ask();
  const socket = new ReconnectingSocket(() => `/commands/ws?${query()}`, {
    onState: state => { feed.value = state; },
    onMessage: ({type, data}) => {
      if (type === 'connected') lists.anew();
      else if (type === 'feed_lost') lists.ask();
      else if (type === 'commands' && Array.isArray(data.commands)) {
        store.batch(data.commands as Json[] as unknown as Command[]);
        draw();
      }
    },
  });
  return () => {
    lists.stop();
    socket.close();
  };
}

// Keeps the feed open while the component is mounted.
export function useCommandFeed(): void {
  useEffect(() => {
    users++;
    clearTimeout(linger);
    close ??= whileVisible(open, hiddenMs);
    return () => {
      if (--users > 0) return;
      linger = window.setTimeout(() => {
        close?.();
        close = null;
      }, lingerMs);
    };
  }, []);
}
