/**
 * Every limit of the extension, each with its unit and the reason for its value.
 * Nothing else in the extension holds a number of this kind.
 */

/** How long the gateway may hold a poll, in seconds: its own upper limit for one poll. */
export const POLL_HOLD_SECONDS = 5;

/**
 * Within this time after a poll the next one comes even if the browser suspends the service worker
 * in between, in seconds: the alarm's period of 30 s, and half of it for a late alarm. Commands wait
 * that long.
 */
export const BACK_WITHIN_SECONDS = 45;

/** A held poll that is this late is taken for a dead connection: twice the hold, in ms. */
export const POLL_TIMEOUT_MS = 10_000;

/**
 * An empty answer that comes sooner than this was not held. The next poll then waits for the rest
 * of it, so that a gateway that never holds is not asked in a tight loop.
 */
export const POLL_INTERVAL_MS = 250;

/** The first and the longest wait between attempts while the gateway cannot be reached, in ms. */
export const BACKOFF_FIRST_MS = 250;
export const BACKOFF_LONGEST_MS = 5_000;

/** What has turned out to be no gateway of ours is asked again after this long at the least, in ms. */
export const IMPOSTOR_PAUSE_MS = 1_000;

/** A post without an answer after this long counts as a network error, in ms. */
export const POST_TIMEOUT_MS = 10_000;

/**
 * A finished result is offered again for this long while the gateway is away, in ms: the gateway
 * keeps results no longer than that for its own readers either.
 */
export const RESULT_RETRY_MS = 60_000;

/**
 * `pending` must have arrived 2 s after receipt, so it leaves 200 ms earlier. The gateway's own
 * patience ends at 3 s.
 */
export const ACKNOWLEDGE_AFTER_MS = 1_800;

/** Further `pending` posts; the gateway gives a silent worker up after 10 s, so one may be lost. */
export const HEARTBEAT_INTERVAL_MS = 4_000;

/** The running time of a command that names none, in ms: the default of the gateway. */
export const DEFAULT_TIMEOUT_MS = 10_000;

/**
 * How many delivery ids are remembered so that none runs twice. The gateway hands out five at a
 * time, so this reaches back a hundred rounds and stays far below the 10 MB of session storage.
 */
export const REMEMBERED_DELIVERIES = 500;

/** How many of them a poll names, so that what never arrived is found out; five can be under way. */
export const NAMED_DELIVERIES = 20;

/** How far back a poll vouches for them, in s: as far as the gateway lets it. */
export const NAMED_FOR_SECONDS = 60;

/**
 * How much of what is under way is kept for the next service worker, in bytes of JSON: unanswered
 * results together, and one command that waits for its turn, of which there are five at the most.
 * Session storage holds 10 MB, in which others keep things, too. A result beyond its share is not
 * kept, and a restart then reports the command as cut short.
 */
export const KEPT_REPORTS_BYTES = 3 * 1024 * 1024;
export const KEPT_COMMAND_BYTES = 64 * 1024;

/** The largest result, in bytes of JSON: what one message and one HTTP body should carry. */
export const RESULT_BYTES = 4 * 1024 * 1024;

/** Files of one upload, and their bytes together: the gateway's limits. */
export const UPLOADED_FILES = 20;
export const UPLOADED_BYTES = 32 * 1024 * 1024;

/** The longest error message in a report, in UTF-16 units: as much of it as the gateway keeps. */
export const MESSAGE_CHARS = 4_000;

/** The longest address in a report, in UTF-16 units: enough to recognise the page by. */
export const URL_CHARS = 2_000;

/** The most text of a page in one answer, in UTF-16 units: more than an agent can read at once. */
export const PAGE_TEXT_CHARS = 100_000;

/** How much text of a clicked element is echoed: enough to recognise it. */
export const ELEMENT_TEXT_CHARS = 200;

/** The most marks in one drawing, and the longest note, in UTF-16 units: the gateway's limits. */
export const ANNOTATIONS = 100;
export const NOTE_CHARS = 2_000;

/** A note is saved when its writer has paused for this long, in ms: about a word apart. */
export const TYPING_PAUSE_MS = 400;

/** The largest drawing that is posted, in bytes of JSON with its pictures: the gateway's limit. */
export const DRAWING_BYTES = 8 * 1024 * 1024;

/**
 * The time for posting a drawing, in ms: two thousand times the size of a common result may have to
 * travel, to a gateway that may be on another machine.
 */
export const DRAWING_POST_TIMEOUT_MS = 60_000;

/** The longest message of an agent over a drawing, in UTF-16 units: three lines of the tool bar. */
export const DRAW_MESSAGE_CHARS = 500;

/** How many waits of agents one drawing may answer: more than ask at once. */
export const DRAWING_WAITERS = 100;

/** The longest name of a session and correlation id, in characters: longer than any in use. */
export const ID_CHARS = 128;

/** Drawings that are kept until they are sent or discarded; the oldest that was left goes first. */
export const DRAWINGS_KEPT = 20;

/**
 * How much of session storage drawings may take with their pictures, in UTF-16 units of JSON. The
 * browser gives 10 MB to all; the memory of deliveries must find room in any case.
 */
export const DRAWINGS_STORED_CHARS = 6_000_000;

/**
 * How often the page is scrolled for pictures of marks that are out of sight. Each takes more than
 * half a second (see SCREENSHOT_INTERVAL_MS), and the person waits for them.
 */
export const PICTURE_STOPS = 8;

/** The margin around a mark in its picture, and the least size of a picture, in CSS pixels. */
export const CROP_MARGIN = 24;
export const CROP_LEAST = { width: 200, height: 140 };

/** The longest value of one computed style, in UTF-16 units: lists of fonts run on. */
export const STYLE_CHARS = 200;

/** The longest name of a browser and of a target, in UTF-16 units: what the gateway takes. */
export const SETTING_CHARS = 64;

/** The longest token, in characters: as long as the gateway takes them. */
export const TOKEN_CHARS = 512;

/** How long "Test connection" waits for each answer, in ms. */
export const CONNECTION_TEST_MS = 5_000;

/** A gateway that has answered no poll for this long is not connected, in ms: twice the hold. */
export const CONNECTED_WITHIN_MS = 10_000;

/** Least time between two writes of the status, in ms: nobody reads faster than this. */
export const POPUP_STATUS_INTERVAL_MS = 200;

/** How many ended and running commands the status names: as many as fit into the popup. */
export const RECENT_ENDS = 8;
export const RUNNING_SHOWN = 20;

/** A paused service worker calls the browser this often, in ms, which suspends it after 30 s. */
export const PAUSED_STIR_MS = 20_000;

/** Elements in the answer of query: when nothing is said, and at most. */
export const QUERY_ELEMENTS = 20;
export const QUERY_ELEMENTS_MOST = 100;

/** The longest attribute of an element in an answer, in UTF-16 units: most addresses fit. */
export const ATTRIBUTE_CHARS = 200;

/**
 * wait_for looks again at least this often, in ms, because style sheets change what is visible
 * without a change of the document; and not more often on a page that never stops changing.
 */
export const WAIT_LOOK_MS = 100;

/** The furthest that one scroll goes, in CSS pixels: what the gateway takes. */
export const SCROLL_PIXELS = 1_000_000;

/**
 * How long an action waits until its element is ready, in ms, how often it looks, and how long apart
 * two looks are that find it in the same place: three pictures of a usual screen.
 */
export const TARGET_PATIENCE_MS = 3_000;
export const TARGET_LOOK_MS = 50;
export const STABLE_LOOK_MS = 50;

/**
 * A drag goes in so many steps, so long apart, in ms: what is below it notices each, and libraries that
 * begin a drag after their own timer get to it.
 */
export const DRAG_STEPS = 10;
export const DRAG_STEP_MS = 16;

/** Steps of one batch, and the pause between two where nobody tells when the page is quiet, in ms. */
export const BATCH_STEPS = 20;
export const STEP_PAUSE_MS = 60;

/**
 * Editors look at what is selected a while after the mouse was let go, Quill after 100 ms: until then
 * what comes next would act on what was selected before.
 */
export const SELECTION_NOTICED_MS = 120;

/** Fields of one fill: more than the longest form that a person fills in at once. */
export const FILLED_FIELDS = 100;

/** How much of an error message may tell what was filled in, in UTF-16 units: the rest is for what was not. */
export const FILLED_CHARS = 1_500;

/** A longer text is put in at once: a key for each character would take too long, in characters. */
export const TYPED_KEYS = 1_000;

/** An action gives its element up so long before its command is over, to say what is in the way, in ms. */
export const TARGET_RESERVE_MS = 300;

/**
 * How long a page may take to make of a value what its field keeps, and of all values of one command, in ms,
 * and how often that is looked at. Most have done so by the first look.
 */
export const KEPT_PATIENCE_MS = 300;
export const KEPT_PATIENCE_ALL_MS = 1_000;
export const KEPT_LOOK_MS = 30;

/** The most keys of one press: a slider from end to end, and far less than the 10 s of a command. */
export const KEY_STROKES = 500;

/** How many option texts an error of select names: enough to see what there is to choose. */
export const NAMED_OPTIONS = 20;

/** Tabs in one list, and the longest title of a tab in UTF-16 units: what the gateway takes. */
export const LISTED_TABS = 200;
export const TITLE_CHARS = 200;

/** Changes of tabs are gathered this long before they are reported, in ms. */
export const WORKER_STATUS_GATHER_MS = 500;

/** The gateway wants a report each 60 s; a quarter of that is left for a slow one, in ms. */
export const WORKER_STATUS_INTERVAL_MS = 45_000;

/** Entries in one answer of console or network when nothing is said. */
export const LOG_ENTRIES = 50;

/**
 * Entries of the console that a page remembers; the same number stands with the other limits of the
 * record in page/record_console.js, which runs in pages and can import nothing.
 */
export const CONSOLE_ENTRIES = 200;

/** Sites whose pages record their console from the start: more than agents ask about in a day. */
export const CONSOLE_SITES = 100;

/**
 * Requests that are remembered of one tab, and tabs that are remembered: a few pages' worth, and
 * some 40 MB at the very worst.
 */
export const NETWORK_ENTRIES = 200;
export const NETWORK_TABS = 100;

/** The longest address that is asked for again, in UTF-16 units: what most servers take. */
export const REQUEST_URL_CHARS = 16_000;

/** The longest body of a request or an answer that is told, in bytes, and header, in UTF-16 units. */
export const BODY_BYTES = 16 * 1024;
export const HEADER_CHARS = 2_000;

/** The longest body of a request in which secrets are looked for, in bytes; of others nothing is told. */
export const BODY_READ_BYTES = 256 * 1024;

/** Headers and bodies that are remembered of all requests, in UTF-16 units of JSON. */
export const DETAILS_CHARS = 16_000_000;

/** How long an answer that is fetched again may take, in ms: less than a command has. */
export const FETCH_AGAIN_MS = 5_000;

/** The tallest picture, in pixels: what a canvas can be on every graphics card. */
export const PICTURE_HEIGHT = 16_384;

/** The widest picture, in pixels: models look at no more, and shrink what is larger. */
export const PICTURE_WIDTH = 1_568;

/** A picture that is larger than this as PNG is a JPEG, in bytes: photographs are. */
export const PNG_BYTES = 1024 * 1024;

/** A long picture that gets no further gives the page its looks back after this long, in ms. */
export const CAPTURE_PATIENCE_MS = 5_000;

/** Elements that are looked at for being fixed; a look at each costs about 1 µs. */
export const FIXED_CANDIDATES = 20_000;

/** How a picture is compressed that is too large as PNG; the first quality that fits is taken. */
export const JPEG_QUALITIES = [0.9, 0.7, 0.4];

/** The browser allows two captures a second; they are spaced a little wider than that, in ms. */
export const SCREENSHOT_INTERVAL_MS = 550;

/** A tab without an answer from its page for this long, in ms, has a dialog or a script in the way. */
export const BLOCKED_AFTER_MS = 1_000;

/** The same while an action runs in it, which may keep a slow page busy for longer, in ms. */
export const BLOCKED_MIDWAY_MS = 5_000;

/** A frame that does not answer for this long is left out, and is asked again only after a while, in ms. */
export const FRAME_PATIENCE_MS = 1_000;
export const HUNG_FOR_MS = 30_000;

/** How often it is looked whether it answers, meanwhile, in ms. */
export const PROBE_INTERVAL_MS = 1_000;

/** How long after a command its tab still has no dialogs of the browser, in ms: for timers it set. */
export const LINGER_MS = 1_000;

/** Tabs that are opened for a page in one command, whose windows the browser blocked: a click opens one. */
export const TABS_OPENED = 3;

/** Tabs that a page opened in which its dialogs hold up nothing, either. */
export const TABS_ARMED = 20;

/** The most that is counted of what happened: a page can say any number. */
export const EVENTS_COUNTED = 1_000_000_000;

/** What one answer tells of dialogs, of tabs and the like each, and how much of a text in them, in UTF-16 units. */
export const EVENTS_TOLD = 20;
export const TEXT_TOLD_CHARS = 200;

/**
 * A page is quiet when nothing has changed in it for this long, in ms: longer than the steps in
 * which one change leads to the next. How long that is waited for, and for a page that loads.
 */
export const QUIET_MS = 50;
export const QUIET_PATIENCE_MS = 1_000;
export const LOAD_PATIENCE_MS = 10_000;

/**
 * How often it is looked whether a load has ended without a page, in ms; and what is left of the time
 * of a command for telling of a page that is there and still loads: a look at it, on a busy machine.
 */
export const LOAD_LOOK_MS = 100;
export const LOAD_RESERVE_MS = 1_500;

/** How long a script waits for a document that still comes in, in ms: as long as the outline does. */
export const PARSE_PATIENCE_MS = 3_000;

/** A page takes no step through the history so long before its answer would come too late, in ms. */
export const HISTORY_RESERVE_MS = 200;

/** A step through the history begins within this time, in ms, where there is a page to go to. */
export const HISTORY_PATIENCE_MS = 1_000;

/** What a page still loads, in one answer: enough to tell what holds it up. */
export const LOADING_TOLD = 5;

/** The longest report on an action, in UTF-16 units, and the longest address in a line of it. */
export const REPORT_CHARS = 2_000;
export const URL_TOLD_CHARS = 300;

/** How long a page may take to say how it is after an action, in ms; a hung frame never does. */
export const LOOK_PATIENCE_MS = 3_000;

/** Outlines that agents were told, of which changes are told: as many as agents in tabs work at a time. */
export const OUTLINES_KNOWN = 50;

/** What is left of the time of a command for looking at the page and for the report, in ms. */
export const REPORT_RESERVE_MS = 300;

/** How long a capture waits for its tab to be painted, in ms; a minimised window never is. */
export const PAINT_PATIENCE_MS = 1_000;

/** The period of the alarm that wakes a suspended service worker, in minutes: the least allowed. */
export const WAKE_PERIOD_MINUTES = 0.5;

/** Documents of a tab whose refs are known, the latest: a hundred pages with a few frames each. */
export const REF_RANGES = 500;

/**
 * Refs of a tab that are set aside at once for the case that the extension is loaded anew, so that not
 * each look writes to the disk; and tabs of which that is kept: more than agents work in.
 */
export const REFS_ASIDE = 1_000;
export const TABS_ASIDE = 100;

/**
 * The text of an outline, in characters, those beyond Latin counted by their bytes: when nothing is
 * said some 5,000 tokens, and what a caller can ask for.
 */
export const PAGE_LINES_CHARS = 20_000;
export const PAGE_LINES_CHARS_LEAST = 200;
export const PAGE_LINES_CHARS_MOST = 60_000;

/** Lines of a page with all its frames: twice as many as one frame can have (page/eyes/bounds.js). */
export const PAGE_LINES = 100_000;

/** Items of a list that an outline still tells of where not all of it can be told. */
export const LIST_ITEMS = 50;

/** Lines in the answer of find: when nothing is said, and at most. */
export const FOUND_LINES = 20;
export const FOUND_LINES_MOST = 100;

/** How much of a long line find tells, in characters: some sentences. */
export const FOUND_CHARS = 450;
