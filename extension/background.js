/**
 * The service worker: it wires the parts together and holds no rules of its own. The browser may
 * end it at any time and start it again; everything that must survive is in chrome.storage.
 */
import { actions } from './src/actions/index.js';
import { createCaptureTurns } from './src/capture_turns.js';
import { createCommandExecutor } from './src/command_executor.js';
import { createCommandRunner } from './src/command_runner.js';
import { openDeliveryJournal } from './src/delivery_journal.js';
import { createGatewayClient } from './src/gateway_client.js';
import { WAKE_PERIOD_MINUTES } from './src/limits.js';
import { createPageScripts } from './src/page_scripts.js';
import { runPollLoop } from './src/poll_loop.js';
import { createResultOutbox } from './src/result_outbox.js';
import { loadSettings } from './src/settings.js';
import { createTabLanes } from './src/tab_lanes.js';
import { createTabs } from './src/tabs.js';

const log = (message) => console.warn(`[callslip] ${message}`);
const now = () => performance.now();

const execute = createCommandExecutor({
  actions,
  tabs: createTabs(chrome),
  lanes: createTabLanes(),
  tools: {
    browser: chrome,
    pageScripts: createPageScripts(chrome),
    captures: createCaptureTurns({ now }),
  },
});
const journal = openDeliveryJournal(chrome.storage.session);

/**
 * Serves one gateway until the signal is aborted. Commands that are running then still post their
 * results to the gateway that they came from.
 */
async function serve(signal) {
  const storage = chrome.storage.local;
  const settings = await loadSettings({ storage, newId: () => crypto.randomUUID(), log });
  if (signal.aborted) return;
  const gateway = createGatewayClient({ ...settings, fetch: (...args) => fetch(...args) });
  const outbox = createResultOutbox({ gateway, now, log });
  const runner = createCommandRunner({ execute, outbox, journal: await journal, log });
  runner.reportAbandoned();
  await runPollLoop({
    gateway,
    receive: (command) => runner.receive(command),
    keepAwake: () => chrome.runtime.getPlatformInfo(),
    now,
    log,
    signal,
  });
}

let current = new AbortController();

function restart() {
  current.abort();
  current = new AbortController();
  serve(current.signal).catch((error) => log(`The extension could not start: ${error.stack}`));
}

// Being called is the point of these listeners: the browser starts the worker in order to call
// them, and starting runs the line at the end of this file.
chrome.runtime.onStartup.addListener(() => {});
chrome.alarms.onAlarm.addListener(() => {});
chrome.alarms.create('wake', { periodInMinutes: WAKE_PERIOD_MINUTES });

chrome.storage.onChanged.addListener((changes, area) => {
  if (area === 'local' && (changes.serverUrl || changes.token)) restart();
});

restart();
