/**
 * The service worker: it wires the parts together and holds no rules of its own. The browser may
 * end it at any time and start it again; everything that must survive is in chrome.storage.
 */
import { actions } from './src/actions/index.js';
import { showBadge } from './src/badge.js';
import { createActionReports } from './src/action_report.js';
import { createAttendance } from './src/attendance.js';
import { createCaptureTurns } from './src/capture_turns.js';
import { createClipboards } from './src/clipboards.js';
import { createCommandExecutor } from './src/command_executor.js';
import { createCommandRunner } from './src/command_runner.js';
import { openDeliveryJournal } from './src/delivery_journal.js';
import { createConsoleRecords } from './src/console_records.js';
import { createEventLines } from './src/event_lines.js';
import { createDrawMode } from './src/draw_mode/draw_mode.js';
import { createDrawingPost } from './src/draw_mode/drawing_post.js';
import { openDrawings } from './src/draw_mode/drawings.js';
import { createFrames } from './src/frames.js';
import { createGatewayClient } from './src/gateway_client.js';
import { createGatewayFiles } from './src/gateway_files.js';
import { gatewayPage, isGatewayPage } from './src/gateway_page.js';
import { keepServing, openedOnce } from './src/keep_serving.js';
import { WAKE_PERIOD_MINUTES } from './src/limits.js';
import { createMessages } from './src/messages.js';
import { watchNetwork } from './src/network_log.js';
import { createOutline } from './src/outline.js';
import { createPageParts } from './src/page_parts.js';
import { createPageScripts } from './src/page_scripts.js';
import { stayPaused } from './src/paused.js';
import { runPollLoop } from './src/poll_loop.js';
import { createRefBook } from './src/ref_book.js';
import { createRefs } from './src/refs.js';
import { createResultOutbox } from './src/result_outbox.js';
import { loadSettings, USER_SETTINGS } from './src/settings.js';
import { createSettling } from './src/settling.js';
import { createStandInScripts } from './src/stand_in_scripts.js';
import { createStandIns } from './src/stand_ins.js';
import { createStatus } from './src/status.js';
import { createTabLanes } from './src/tab_lanes.js';
import { createTabs } from './src/tabs.js';
import { createTargets } from './src/targets.js';
import { browserVersion, createWorkerStatus } from './src/worker_status.js';

// Before anything else: the token is nothing for content scripts, whose process a page may have
// taken over.
const guard = openedOnce(
  () => chrome.storage.local.setAccessLevel({ accessLevel: 'TRUSTED_CONTEXTS' }));
guard().catch(() => {});

const log = (message) => console.warn(`[callslip] ${message}`);
const now = () => performance.now();
const wallNow = () => Date.now();
const newId = () => crypto.randomUUID();

const tabs = createTabs(chrome);
const pageScripts = createPageScripts(chrome, now);
const refBook = createRefBook({ storage: chrome.storage.session, lasting: chrome.storage.local, newId });
const pageParts = createPageParts(chrome, () => refBook.session());
const frames = createFrames({ pageParts });
const isOff = async (url) => {
  const { serverUrl } = await loadSettings({ storage: chrome.storage.local, newId, log });
  return isGatewayPage(url, serverUrl);
};
const outline = createOutline({ pageParts, refBook, isOff });
/** Rejects for a page where no action is carried out. */
const guardPage = async (url) => {
  if (await isOff(url)) throw gatewayPage(url);
};
const captures = createCaptureTurns({ now });
const gatewayFiles = createGatewayFiles();
const openJournal = openedOnce(() => openDeliveryJournal(chrome.storage.session, wallNow));
const drawings = openedOnce(() => openDrawings(chrome.storage.session));
const drawMode = createDrawMode({
  browser: chrome,
  drawings,
  pageScripts,
  captures,
  newId,
  log,
});
const status = createStatus({
  storage: chrome.storage.session,
  now: wallNow,
  changed: (connection) => showBadge(chrome.action, connection),
});
const network = watchNetwork({ requests: chrome.webRequest, tabs: chrome.tabs, wallNow });
const standIns = createStandIns({
  browser: chrome,
  scripts: createStandInScripts({ scripting: chrome.scripting, log }),
  now,
});
const reports = createActionReports({
  browser: chrome,
  outline,
  settling: createSettling({ browser: chrome, pageParts, network, now, wallNow }),
  eventLines: createEventLines({ browser: chrome, network, isOff }),
  now,
  isOff,
});
const refs = createRefs({ pageParts, refBook, outline });
const execute = status.watchRuns(createCommandExecutor({
  actions,
  tabs,
  lanes: createTabLanes(),
  attendance: createAttendance({ browser: chrome, standIns, reports, now }),
  isOff,
  tools: {
    browser: chrome,
    tabs,
    pageScripts,
    pageParts,
    refBook,
    frames,
    outline,
    refs,
    targets: createTargets({ pageParts, frames, refs, outline, guard: guardPage, now }),
    captures,
    clipboards: createClipboards({ storage: chrome.storage.session }),
    consoleRecords: createConsoleRecords({ scripting: chrome.scripting, pageScripts, log }),
    drawMode,
    gatewayFiles,
    guard: guardPage,
    network,
    isOff,
    fetch: (...args) => fetch(...args),
    reports,
    now,
    newId,
  },
}));
const running = new Map();
let workerStatus;

/**
 * Serves one gateway until the signal is aborted; none, and without a single request, before the
 * browser was paired. Commands that are running then still post their
 * results to the gateway that they came from.
 */
async function serve(signal) {
  await guard();
  const settings = await loadSettings({ storage: chrome.storage.local, newId, log });
  const journal = await openJournal();
  const store = await drawings();
  if (signal.aborted) return;
  status.serving(settings);
  if (!settings.paired) return;
  const gateway = createGatewayClient({ ...settings, fetch: (...args) => fetch(...args) });
  gatewayFiles.readFrom(gateway);
  const outbox = createResultOutbox({ gateway, now, log });
  const runner = createCommandRunner({ execute, outbox, journal, wallNow, log, running });
  workerStatus = createWorkerStatus({
    gateway,
    browser: chrome,
    description: describe(settings),
    log,
  });
  workerStatus.run(signal);
  drawMode.postWith(createDrawingPost({ gateway, settings, drawings: store, log, signal }));
  await runner.recover();
  const keepAwake = () => chrome.runtime.getPlatformInfo();
  if (settings.paused) return stayPaused({ keepAwake, signal });
  await runPollLoop({
    gateway: status.watchPolls(gateway, signal),
    known: () => journal.known(),
    receive: (command) => runner.receive(command),
    cancel: (item) => runner.cancel(item),
    reconnected: () => workerStatus.touch(),
    keepAwake,
    now,
    log,
    signal,
  });
}

function describe({ name, paused }) {
  const { version } = chrome.runtime.getManifest();
  return { name, version, browser: browserVersion(navigator.userAgent), paused };
}

let current = new AbortController();

function restart() {
  current.abort();
  current = new AbortController();
  keepServing(serve, { signal: current.signal, log });
}

// Being called is the point of these listeners: the browser starts the worker in order to call
// them, and starting runs the line at the end of this file.
chrome.runtime.onStartup.addListener(() => {});
chrome.alarms.onAlarm.addListener(() => {});
chrome.alarms.create('wake', { periodInMinutes: WAKE_PERIOD_MINUTES });

chrome.runtime.onMessage.addListener(createMessages({ drawMode, standIns, tabs }));
chrome.commands.onCommand.addListener((command, tab) => {
  if (command !== 'draw_mode') return;
  drawMode.start(tab).catch((error) => log(`Draw mode could not start: ${error.message}`));
});
drawMode.watchTabs();

for (const event of ['onCreated', 'onUpdated', 'onActivated', 'onRemoved', 'onAttached']) {
  chrome.tabs[event].addListener(() => workerStatus?.touch());
}

chrome.tabs.onRemoved.addListener((tabId) => {
  refBook.forget(tabId).catch(() => {});
});

chrome.storage.onChanged.addListener((changes, area) => {
  if (area === 'local' && USER_SETTINGS.some((name) => name in changes)) restart();
});

restart();
