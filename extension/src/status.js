import { RECENT_ENDS, RUNNING_SHOWN, POPUP_STATUS_INTERVAL_MS, URL_CHARS } from './limits.js';
import { SpoofedGateway } from './proven_fetch.js';
import { cutText } from './text.js';
import { pause } from './waiting.js';

/** The key of the status in chrome.storage.session. */
export const STATUS = 'status';

/**
 * Publishes the state for the popup, as an object in a chrome.storage area:
 *
 *   {serverUrl, target, name,
 *    connection: 'unpaired' | 'connecting' | 'connected' | 'disconnected' | 'spoofed' | 'paused',
 *    since, polledAt, error,
 *    running: [{action, tabId, url, since}], recent: [{action, tabId, url, outcome, at}]}
 *
 * `outcome` is `complete`, the code of an error, or `stopped` for a command that ran out of time or was
 * cancelled. Times are in ms since 1970, from `now`. `changed(connection)` is called when the connection
 * changes. It only observes: the poll loop and the runner work without it.
 */
export function createStatus({ storage, now, changed = () => {} }) {
  const status = { connection: 'connecting', since: now(), recent: [] };
  const running = new Set();
  let stale = false;
  let writing = false;

  async function publish() {
    stale = true;
    if (writing) return;
    writing = true;
    try {
      while (stale) {
        await pause(POPUP_STATUS_INTERVAL_MS);
        stale = false;
        const shown = [...running].slice(0, RUNNING_SHOWN)
          .map(({ action, since, run }) => ({ action, since, ...whereOf(run) }));
        await storage.set({ [STATUS]: { ...status, running: shown } });
      }
    } finally {
      writing = false;
    }
  }

  function become(connection, error) {
    if (status.connection !== connection) {
      status.connection = connection;
      status.since = now();
      changed(connection);
    }
    status.error = error;
    publish();
  }

  return {
    /**
     * A gateway is served from now on, unless the settings say that the browser is paused, or is not paired
     * yet.
     */
    serving({ serverUrl, target, name, paired, paused }) {
      Object.assign(status, { serverUrl, target, name, polledAt: undefined });
      status.connection = undefined;
      if (!paired) return become('unpaired');
      become(paused ? 'paused' : 'connecting');
    },

    /** Returns the gateway client, with the results of its polls observed. */
    watchPolls(gateway, signal) {
      return {
        ...gateway,
        async pendingQueries(...args) {
          try {
            const commands = await gateway.pendingQueries(...args);
            if (!signal.aborted) {
              status.polledAt = now();
              become('connected');
            }
            return commands;
          } catch (error) {
            const connection = error instanceof SpoofedGateway ? 'spoofed' : 'disconnected';
            if (!signal.aborted) become(connection, error.message);
            throw error;
          }
        },
      };
    },

    /** Returns the executor, with its commands observed. */
    watchRuns(execute) {
      return async (command, run) => {
        const action = String(command.params?.action ?? command.type);
        const entry = { action, since: now(), run };
        running.add(entry);
        const end = (outcome) => {
          if (!running.delete(entry)) return;
          status.recent.unshift({ action, ...whereOf(run), outcome, at: now() });
          status.recent.length = Math.min(status.recent.length, RECENT_ENDS);
          publish();
        };
        run.signal.addEventListener('abort', () => end('stopped'), { once: true });
        publish();
        try {
          const data = await execute(command, run);
          end('complete');
          return data;
        } catch (error) {
          end(error.code ?? 'execution_failed');
          throw error;
        }
      };
    },
  };
}

/** The page of a command; the executor records it once it has found the tab. */
function whereOf({ tabId, url }) {
  return { tabId, url: url && cutText(url, URL_CHARS) };
}
