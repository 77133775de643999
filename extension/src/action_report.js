import { oneLine } from './event_lines.js';
import {
  LOOK_PATIENCE_MS, OUTLINES_KNOWN, REPORT_CHARS, REPORT_RESERVE_MS, TITLE_CHARS, URL_TOLD_CHARS,
} from './limits.js';
import { outlineChanges } from './outline_changes.js';
import { toldAddress, toldTitle } from './told_page.js';
import { pause } from './waiting.js';

/** Reserved for the line with the number of omitted lines, and for the first line, in UTF-16 units. */
const MORE_CHARS = 40;
const DONE_CHARS = REPORT_CHARS / 2;

export const REPORT_VIEWS = ['changes', 'page', 'none'];

/**
 * Reports the effects of an action: in the first line what was done, then the changes in the tab since the
 * last report to its caller. Of a page for which `isOff(url)` is true it reports only the address.
 */
export function createActionReports({
  browser, outline, settling, eventLines, now, isOff = () => false,
}) {
  /**
   * By tab and caller, the last reported state of the tab, `{lines, url}`; the one reported longest ago is
   * first.
   */
  const known = new Map();
  const keyOf = (tabId, caller) => `${tabId} ${caller}`;
  browser.tabs.onRemoved.addListener((tabId) => {
    for (const key of known.keys()) if (key.startsWith(keyOf(tabId, ''))) known.delete(key);
  });

  function remember(key, { lines, url }) {
    known.delete(key);
    known.set(key, { lines, url });
    if (known.size > OUTLINES_KNOWN) known.delete(known.keys().next().value);
  }

  /** The address of the tab if nothing else of its page may be reported. */
  async function placeOff(tab) {
    const { url, pendingUrl } = await browser.tabs.get(tab.id).catch(() => ({}));
    for (const place of [url, pendingUrl]) if (place && await isOff(place)) return place;
    return undefined;
  }

  /**
   * The state of the tab, `{off}` or `{pdf}` with its address only, or undefined if its page does not
   * answer in time.
   */
  async function look(tab, patienceMs = LOOK_PATIENCE_MS) {
    const off = await placeOff(tab);
    if (off) return { off };
    // The tab may have reached that page only during the look.
    const failed = ({ code, url }) => ({ restricted_page: { off: url }, pdf_viewer: { pdf: url } })[code];
    return Promise.race([outline(tab).catch(failed), pause(patienceMs)]);
  }

  return {
    /** Records the state of a tab of which a caller has just received a full report. */
    saw(tabId, caller, seen) {
      remember(keyOf(tabId, caller), seen);
    },

    /**
     * Must be called before an action. `watch` is from stand_ins.js, `view` one of REPORT_VIEWS, and
     * `endsAt` the time of `now` at which the command is over; `isNew` is true if the tab was created for
     * it. `caller` identifies the recipient of the report. Resolves to `{settle, finish}`.
     */
    async begin({ tab, caller = '', isNew, watch, view = 'changes', endsAt, signal, progress }) {
      const key = keyOf(tab.id, caller);
      const startedAt = now();
      const firstAt = settling.begin(tab.id);
      let stepAt = firstAt;
      if (view === 'changes' && !isNew && !known.has(key)) {
        const seen = await look(tab);
        if (seen?.lines) remember(key, seen);
      }

      /** Resolves once the page is quiet, so that the next step can begin. */
      async function settle() {
        const ms = Math.max(0, endsAt - now() - REPORT_RESERVE_MS);
        const inTime = AbortSignal.any([signal, AbortSignal.timeout(ms)]);
        const loading = () => progress('The page is loading.');
        await settling.settled(tab.id, stepAt, { signal: inTime, loading });
        stepAt = settling.begin(tab.id);
      }

      /** A look that leaves time to report a missing answer. */
      function lookInTime() {
        const leftMs = Math.max(0, endsAt - now() - REPORT_RESERVE_MS / 3);
        return look(tab, Math.min(LOOK_PATIENCE_MS, leftMs));
      }

      async function changedLines(before) {
        const after = await lookInTime();
        if (!after?.lines) return untold(after);
        remember(key, after);
        if (before && documentOf(before) === documentOf(after)) {
          const lines = outlineChanges(before.lines, after.lines);
          return before.url === after.url ? lines : [placeLine(after), ...lines];
        }
        const { text } = await outline(tab, { limit: REPORT_CHARS }).catch(() => after);
        return [placeLine(after), ...text.split('\n').slice(1)];
      }

      async function wholePage() {
        const seen = await lookInTime();
        if (!seen?.lines) return untold(seen);
        remember(key, seen);
        return seen.text.split('\n');
      }

      return {
        settle,

        /**
         * Returns the report on what was `done`, once the page is quiet, or at once if it `isUnfinished`,
         * because that was already waited for; `changed` is false if the report contains nothing else.
         */
        async finish(done, { isUnfinished = false } = {}) {
          if (!isUnfinished) await settle();
          const ms = Math.round(now() - startedAt);
          const events = await eventLines({ tab, watch, beganAt: firstAt });
          const lines = view === 'none' ? []
            : view === 'page' ? await wholePage() : await changedLines(known.get(key));
          const first = `${oneLine(done, DONE_CHARS)}, ${ms} ms`;
          const room = REPORT_CHARS - first.length;
          const told = fit(events.lines, room / 2, 'events more', events.more);
          const all = view === 'page' ? [...told, ...lines]
            : [...fit(lines, room - charsOf(told), 'lines more: analyze page'), ...told];
          const changed = all.length > 0;
          if (!changed && view !== 'none') all.push('nothing changed');
          return { changed, text: [first, ...all].join('\n') };
        },
      };
    },
  };
}

const charsOf = (lines) => lines.reduce((sum, line) => sum + line.length + 1, 0);

/** As many of the lines as fit, and how many `more` there are, including those `untold` before. */
function fit(lines, room, more, untold = 0) {
  if (untold === 0 && charsOf(lines) <= room) return lines;
  let left = room - MORE_CHARS;
  let kept = 0;
  while (kept < lines.length && lines[kept].length < left) {
    left -= lines[kept].length + 1;
    kept += 1;
  }
  return [...lines.slice(0, kept), `… ${lines.length - kept + untold} ${more}`];
}

function documentOf({ lines, url }) {
  return lines.find(({ frameId }) => frameId === 0)?.documentId ?? url;
}

function untold(seen) {
  if (!seen) return ['the page does not say how it is now'];
  if (seen.pdf) return [placeLine({ url: seen.pdf }), 'the tab shows a PDF, whose text is out of reach'];
  return [placeLine({ url: seen.off }), 'nothing is told of this page: it is the gateway\'s own'];
}

function placeLine({ url, title }) {
  return `→ ${oneLine(toldAddress(url), URL_TOLD_CHARS)} ${oneLine(toldTitle(title), TITLE_CHARS)}`.trim();
}
