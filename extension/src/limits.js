/**
 * Every limit of the extension, with its unit and the reason for its value. No other file of the extension
 * contains such a number.
 */

/** The longest time that the gateway may hold a poll, in seconds: its own upper limit for one poll. */
export const POLL_HOLD_SECONDS = 5;

/**
 * The next poll follows a poll within this time, in seconds, even if the browser suspends the service
 * worker in between: the alarm's period of 30 s, and half of it for a late alarm. Commands wait that long.
 */
export const BACK_WITHIN_SECONDS = 45;

/** A held poll without an answer after this time counts as a dead connection: twice the hold, in ms. */
export const POLL_TIMEOUT_MS = 10_000;

/**
 * An empty answer that arrives sooner than this was not held. The next poll then waits for the rest of this
 * time, in ms, so that a gateway that never holds is not polled in a tight loop.
 */
export const POLL_INTERVAL_MS = 250;

/** The first and the longest wait between attempts while the gateway is unreachable, in ms. */
export const BACKOFF_FIRST_MS = 250;
export const BACKOFF_LONGEST_MS = 5_000;

/** Minimum pause before a spoofed gateway is asked again, in ms. */
export const IMPOSTOR_PAUSE_MS = 1_000;

/** A POST without an answer after this time counts as a network error, in ms. */
export const POST_TIMEOUT_MS = 10_000;

/**
 * How long a finished result is offered again while the gateway is unreachable, in ms: the gateway keeps
 * results for its own readers no longer than that.
 */
export const RESULT_RETRY_MS = 60_000;

/**
 * `pending` must arrive within 2 s of receipt, so it is sent 200 ms earlier. The gateway itself waits until
 * 3 s.
 */
export const ACKNOWLEDGE_AFTER_MS = 1_800;

/**
 * Interval of further `pending` posts, in ms. The gateway gives up a silent worker after 10 s, so one may
 * be lost.
 */
export const HEARTBEAT_INTERVAL_MS = 4_000;

/** The running time of a command that specifies none, in ms: the default of the gateway. */
export const DEFAULT_TIMEOUT_MS = 10_000;

/**
 * How many delivery ids are remembered so that none runs twice. The gateway delivers five at a time, so
 * this covers a hundred rounds, and stays far below the 10 MB of session storage.
 */
export const REMEMBERED_DELIVERIES = 500;

/** How many of them a poll lists, so that the gateway detects lost deliveries; five can be under way. */
export const NAMED_DELIVERIES = 20;

/** The longest period for which a poll claims to list them, in s: the gateway's maximum. */
export const NAMED_FOR_SECONDS = 60;

/**
 * How much unfinished work is kept for the next service worker, in bytes of JSON: all unanswered results
 * together, and each waiting command, of which there are at most five. Session storage holds 10 MB and has
 * other users too. A result beyond its share is not kept; after a restart the command is reported as
 * interrupted.
 */
export const KEPT_REPORTS_BYTES = 3 * 1024 * 1024;
export const KEPT_COMMAND_BYTES = 64 * 1024;

/** The largest result, in bytes of JSON, for one message and one HTTP body. */
export const RESULT_BYTES = 4 * 1024 * 1024;

/** The most files of one upload, and their total bytes: the gateway's limits. */
export const UPLOADED_FILES = 20;
export const UPLOADED_BYTES = 32 * 1024 * 1024;

/** The longest error message in a report, in UTF-16 units: the gateway keeps no more. */
export const MESSAGE_CHARS = 4_000;

/** The longest address in a report, in UTF-16 units: enough to recognize the page. */
export const URL_CHARS = 2_000;

/** The most text of a page in one answer, in UTF-16 units: more than an agent can read at once. */
export const PAGE_TEXT_CHARS = 100_000;

/** How much text of a clicked element is returned, in UTF-16 units: enough to recognize it. */
export const ELEMENT_TEXT_CHARS = 200;

/** The most marks in one drawing, and the longest note, in UTF-16 units: the gateway's limits. */
export const ANNOTATIONS = 100;
export const NOTE_CHARS = 2_000;

/** A note is saved when its writer pauses for this long, in ms: about once a word. */
export const TYPING_PAUSE_MS = 400;

/** The largest drawing that is posted, in bytes of JSON with its pictures: the gateway's limit. */
export const DRAWING_BYTES = 8 * 1024 * 1024;

/**
 * Timeout for posting a drawing, in ms: it can be two thousand times as large as a common result, and the
 * gateway may be on another machine.
 */
export const DRAWING_POST_TIMEOUT_MS = 60_000;

/** The longest message of an agent above a drawing, in UTF-16 units: three lines of the tool bar. */
export const DRAW_MESSAGE_CHARS = 500;

/** How many waits of agents one drawing can answer: more than ask at once. */
export const DRAWING_WAITERS = 100;

/** The longest name of a session and the longest correlation id, in characters: longer than any in use. */
export const ID_CHARS = 128;

/** Drawings kept until they are sent or discarded; the oldest abandoned or rejected one is dropped first. */
export const DRAWINGS_KEPT = 20;

/**
 * How much of session storage drawings with their pictures may use, in UTF-16 units of JSON. The browser
 * provides 10 MB in total, and the delivery journal must always fit.
 */
export const DRAWINGS_STORED_CHARS = 6_000_000;

/**
 * How many times the page is scrolled to capture marks that are out of sight. Each takes more than half a
 * second (see SCREENSHOT_INTERVAL_MS), and the person waits for it.
 */
export const PICTURE_STOPS = 8;

/** The margin around a mark in its picture, and the minimum size of a picture, in CSS pixels. */
export const CROP_MARGIN = 24;
export const CROP_LEAST = { width: 200, height: 140 };

/** The longest value of one computed style, in UTF-16 units: font lists can be very long. */
export const STYLE_CHARS = 200;

/** The longest name of a browser and of a target, in UTF-16 units: the gateway's limit. */
export const SETTING_CHARS = 64;

/** The longest token, in characters: the gateway's limit. */
export const TOKEN_CHARS = 512;

/** Timeout of "Test connection" for each answer, in ms. */
export const CONNECTION_TEST_MS = 5_000;

/** A gateway that has answered no poll for this long is shown as not connected, in ms: twice the hold. */
export const CONNECTED_WITHIN_MS = 10_000;

/** Minimum time between two writes of the status, in ms: a person reads no faster. */
export const POPUP_STATUS_INTERVAL_MS = 200;

/** How many finished and running commands the status lists: as many as fit into the popup. */
export const RECENT_ENDS = 8;
export const RUNNING_SHOWN = 20;

/** Interval at which a paused service worker calls the browser, in ms, which suspends it after 30 s. */
export const PAUSED_STIR_MS = 20_000;

/** Elements in the answer of query: default and maximum. */
export const QUERY_ELEMENTS = 20;
export const QUERY_ELEMENTS_MOST = 100;

/** The longest attribute of an element in an answer, in UTF-16 units: most addresses fit. */
export const ATTRIBUTE_CHARS = 200;

/**
 * wait_for checks at least this often, in ms, because style sheets change visibility without a change of
 * the document, and no more often on a page that never stops changing.
 */
export const WAIT_LOOK_MS = 100;

/** The longest distance of one scroll, in CSS pixels: the gateway's limit. */
export const SCROLL_PIXELS = 1_000_000;

/**
 * How long an action waits until its element is ready, how often it checks, and the interval between two
 * checks that must find it in the same position, all in ms: three frames of a usual display.
 */
export const TARGET_PATIENCE_MS = 3_000;
export const TARGET_LOOK_MS = 50;
export const STABLE_LOOK_MS = 50;

/**
 * The number of steps of a drag, and the time between them, in ms: each step is noticed by the elements
 * below it, and libraries that begin a drag after a delay of their own have time to do so.
 */
export const DRAG_STEPS = 10;
export const DRAG_STEP_MS = 16;

/** Steps of one batch, and the pause between two where the end of activity is not detected, in ms. */
export const BATCH_STEPS = 20;
export const STEP_PAUSE_MS = 60;

/**
 * Editors read the selection some time after the mouse button is released, Quill after 100 ms. Until then
 * the next action would apply to the previous selection. In ms.
 */
export const SELECTION_NOTICED_MS = 120;

/** The most fields of one fill: more than the longest form that a person fills in at once. */
export const FILLED_FIELDS = 100;

/**
 * How much of an error message may list the filled fields, in UTF-16 units: the rest is for the other
 * fields.
 */
export const FILLED_CHARS = 1_500;

/** A longer text is inserted at once, because a key for each character would take too long; in characters. */
export const TYPED_KEYS = 1_000;

/**
 * An action stops waiting for its element this long before the command times out, in ms, to report what is
 * in the way.
 */
export const TARGET_RESERVE_MS = 300;

/**
 * How long a page may take to turn a value into what its field keeps, for one value and for all values of
 * one command, and how often this is checked, in ms. Most pages are done by the first check.
 */
export const KEPT_PATIENCE_MS = 300;
export const KEPT_PATIENCE_ALL_MS = 1_000;
export const KEPT_LOOK_MS = 30;

/**
 * The most keys of one press: enough to move a slider from end to end, and far less than the 10 s of a
 * command.
 */
export const KEY_STROKES = 500;

/**
 * The most text in one clipboard, and in the clipboards of all agents, in UTF-16 units: as much as one
 * answer has of a page, and what drawings and deliveries leave of the 10 MB of session storage.
 */
export const CLIPBOARD_CHARS = 100_000;
export const CLIPBOARDS_CHARS = 300_000;

/** How many option texts an error of select lists: enough to show the choices. */
export const NAMED_OPTIONS = 20;

/** Tabs in one list, and the longest title of a tab in UTF-16 units: the gateway's limits. */
export const LISTED_TABS = 200;
export const TITLE_CHARS = 200;

/** Changes of tabs are collected for this long before they are reported, in ms. */
export const WORKER_STATUS_GATHER_MS = 500;

/** The gateway expects a report every 60 s; a quarter of that is left for a slow one, in ms. */
export const WORKER_STATUS_INTERVAL_MS = 45_000;

/** Default number of entries in one answer of console or network. */
export const LOG_ENTRIES = 50;

/**
 * Console entries that a page remembers. The same number is in page/record_console.js, with the other
 * limits of the record, because that script runs in pages and can import nothing.
 */
export const CONSOLE_ENTRIES = 200;

/** The most sites whose pages record their console from the start: more than agents ask about in a day. */
export const CONSOLE_SITES = 100;

/**
 * Requests remembered for one tab, and tabs remembered: the requests of a few pages, and some 40 MB at the
 * very worst.
 */
export const NETWORK_ENTRIES = 200;
export const NETWORK_TABS = 100;

/** The longest address that is fetched again, in UTF-16 units: most servers accept that. */
export const REQUEST_URL_CHARS = 16_000;

/** The longest reported body of a request or response, in bytes, and header, in UTF-16 units. */
export const BODY_BYTES = 16 * 1024;
export const HEADER_CHARS = 2_000;

/** The longest request body that is searched for secrets, in bytes; nothing of a longer one is reported. */
export const BODY_READ_BYTES = 256 * 1024;

/** Headers and bodies remembered for all requests, in UTF-16 units of JSON. */
export const DETAILS_CHARS = 16_000_000;

/** Timeout for fetching a response again, in ms: less than the time of a command. */
export const FETCH_AGAIN_MS = 5_000;

/** The tallest picture, in pixels: the canvas height that every graphics card supports. */
export const PICTURE_HEIGHT = 16_384;

/** The widest picture, in pixels: models scale larger ones down to this. */
export const PICTURE_WIDTH = 1_568;

/** A picture larger than this as PNG becomes a JPEG, in bytes: photographs are. */
export const PNG_BYTES = 1024 * 1024;

/** When the capture of a long picture stalls for this long, the page gets its appearance back, in ms. */
export const CAPTURE_PATIENCE_MS = 5_000;

/** How many elements are checked for a fixed position; each check takes about 1 µs. */
export const FIXED_CANDIDATES = 20_000;

/** JPEG qualities for a picture that is too large as PNG; the first that fits is used. */
export const JPEG_QUALITIES = [0.9, 0.7, 0.4];

/** The browser allows two captures a second; they are spaced slightly wider than that, in ms. */
export const SCREENSHOT_INTERVAL_MS = 550;

/** If the page of a tab does not answer for this long, in ms, a dialog or a script blocks it. */
export const BLOCKED_AFTER_MS = 1_000;

/** The same while an action runs in it, which can keep a slow page busy for longer, in ms. */
export const BLOCKED_MIDWAY_MS = 5_000;

/**
 * A frame that does not answer within the first time is skipped, and is asked again only after the second,
 * in ms.
 */
export const FRAME_PATIENCE_MS = 1_000;
export const HUNG_FOR_MS = 30_000;

/** Interval of checks whether the page answers meanwhile, in ms. */
export const PROBE_INTERVAL_MS = 1_000;

/** How long after a command the dialogs of its tab remain suppressed, in ms: for timers that it set. */
export const LINGER_MS = 1_000;

/** The most tabs that one command opens in place of windows that the browser blocked: a click opens one. */
export const TABS_OPENED = 3;

/** The most tabs opened by a page in which dialogs are suppressed too. */
export const TABS_ARMED = 20;

/** The highest count of events: a page can report any number. */
export const EVENTS_COUNTED = 1_000_000_000;

/**
 * How many dialogs, tabs and other events, of each kind, one answer reports, and how much of a text in
 * them, in UTF-16 units.
 */
export const EVENTS_TOLD = 20;
export const TEXT_TOLD_CHARS = 200;

/**
 * A page is quiet when nothing has changed in it for this long, in ms: longer than the time between a
 * change and the next one that it causes. How long to wait for that, and for a page that is loading.
 */
export const QUIET_MS = 50;
export const QUIET_PATIENCE_MS = 1_000;
export const LOAD_PATIENCE_MS = 10_000;

/**
 * Interval of checks whether a load has ended without a page, in ms; and the remaining time of a command at
 * which a page that exists but is still loading is reported: enough to look at it on a busy machine.
 */
export const LOAD_LOOK_MS = 100;
export const LOAD_RESERVE_MS = 1_500;

/** How long a script waits for a document that is still being parsed, in ms: as long as the outline does. */
export const PARSE_PATIENCE_MS = 3_000;

/**
 * A page does not step through the history this close to the time when its answer would be too late, in ms.
 */
export const HISTORY_RESERVE_MS = 200;

/** A step through the history begins within this time, in ms, if there is a page to go to. */
export const HISTORY_PATIENCE_MS = 1_000;

/** How many pending requests of a page one answer lists: enough to show what delays it. */
export const LOADING_TOLD = 5;

/** The longest report on an action, in UTF-16 units, and the longest address in a line of it. */
export const REPORT_CHARS = 2_000;
export const URL_TOLD_CHARS = 300;

/** How long a page may take to report its state after an action, in ms; a hung frame never does. */
export const LOOK_PATIENCE_MS = 3_000;

/** How many reported outlines are kept for reporting changes: as many as agents work in tabs at a time. */
export const OUTLINES_KNOWN = 50;

/** The time of a command reserved for looking at the page and for the report, in ms. */
export const REPORT_RESERVE_MS = 300;

/** How long a capture waits for its tab to be painted, in ms; a minimized window never is. */
export const PAINT_PATIENCE_MS = 1_000;

/** The period of the alarm that wakes a suspended service worker, in minutes: the minimum allowed. */
export const WAKE_PERIOD_MINUTES = 0.5;

/** How many documents of a tab have known refs, the latest: a hundred pages with a few frames each. */
export const REF_RANGES = 500;

/**
 * Refs of a tab that are reserved at once in case the extension is reloaded, so that not every look writes
 * to the disk; and tabs for which that is kept: more than agents work in.
 */
export const REFS_ASIDE = 1_000;
export const TABS_ASIDE = 100;

/**
 * The text of an outline, in characters, where non-Latin ones count as their number of bytes: the default,
 * some 5,000 tokens, and the range that a caller can request.
 */
export const PAGE_LINES_CHARS = 20_000;
export const PAGE_LINES_CHARS_LEAST = 200;
export const PAGE_LINES_CHARS_MOST = 60_000;

/** Lines of a page with all its frames: twice as many as one frame can have (page/eyes/bounds.js). */
export const PAGE_LINES = 100_000;

/** Items of a list that an outline still shows when not all lines fit. */
export const LIST_ITEMS = 50;

/** Lines in the answer of find: default and maximum. */
export const FOUND_LINES = 20;
export const FOUND_LINES_MOST = 100;

/** How much of a long line find returns, in characters: a few sentences. */
export const FOUND_CHARS = 450;
