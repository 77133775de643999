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

/** The largest result, in bytes of JSON: what one message and one HTTP body should carry. */
export const RESULT_BYTES = 4 * 1024 * 1024;

/** The longest error message in a report, in UTF-16 units: as much of it as the gateway keeps. */
export const MESSAGE_CHARS = 4_000;

/** The longest address in a report, in UTF-16 units: enough to recognise the page by. */
export const URL_CHARS = 2_000;

/** The most text of a page in one answer, in UTF-16 units: more than an agent can read at once. */
export const PAGE_TEXT_CHARS = 100_000;

/** How much text of a clicked element is echoed: enough to recognise it. */
export const ELEMENT_TEXT_CHARS = 200;

/** The browser allows two captures a second; they are spaced a little wider than that, in ms. */
export const SCREENSHOT_INTERVAL_MS = 550;

/** How long a capture waits for its tab to be painted, in ms; a minimised window never is. */
export const PAINT_PATIENCE_MS = 1_000;

/** The period of the alarm that wakes a suspended service worker, in minutes: the least allowed. */
export const WAKE_PERIOD_MINUTES = 0.5;
