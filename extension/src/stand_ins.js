import {
  EVENTS_COUNTED, EVENTS_TOLD, LINGER_MS, TABS_ARMED, TEXT_TOLD_CHARS, URL_CHARS,
} from './limits.js';
import { cutText } from './text.js';

/**
 * Keeps pages running where they would wait for a person, and records their events: while a command runs in
 * a tab, and LINGER_MS longer, its documents have page/main/stand_ins.js in place of alert, confirm, prompt
 * and open. So do tabs that it opens. Everywhere else the page has the browser's own functions, except for
 * the moment in which a new document does not know yet in which tab it is.
 *
 * The events are a list of `{kind: 'dialog', dialog, text, accepted, value}`; `{kind: 'tab', tabId, url}`;
 * `{kind: 'not_opened', url}`, which window.open did not open, or does not report as opened; `{kind:
 * 'link', url}`, a click on a link that opens a tab; `{kind: 'file', name, url}`, a click on a link that
 * saves a file; `{kind: 'error', count}`; and, last, if there were more than EVENTS_TOLD of a kind, `{kind:
 * 'more', count}`, the minimum number of further events. A page can forge all of them except the tabs.
 */
export function createStandIns({ browser, scripts, now }) {
  /** By tab id, where a command runs or has just run; tabs opened by such a tab share its entry. */
  const armed = new Map();
  /** Commands that require stand-ins in new documents. */
  const wanting = new Set();
  /** The latest tabs without a known opener, such as tabs opened in the background. */
  const created = [];
  /** Promises that end when a command has the tab that it is opening. */
  const opening = new Set();

  function beginAsWanted() {
    if (wanting.size === 0) return scripts.begin(null);
    const dialogs = [...wanting].filter(({ over }) => !over).map(({ dialog }) => dialog);
    // If commands of several tabs differ, no question is accepted by mistake.
    const accept = dialogs.length > 0 && dialogs.every((dialog) => dialog !== 'dismiss');
    return scripts.begin(accept ? 'accept' : 'dismiss');
  }

  function note(entry, event) {
    const { heard } = entry;
    const counted = heard.find(({ kind, count }) => kind === event.kind && count);
    if (counted) counted.count = Math.min(counted.count + event.count, EVENTS_COUNTED);
    else if (event.count || heard.filter(({ kind }) => kind === event.kind).length < EVENTS_TOLD) heard.push(event);
    else note(entry, { kind: 'more', count: 1 });
  }

  function entryOf(tabId) {
    const there = armed.get(tabId);
    if (there?.tabId === tabId) return there;
    const entry = { tabId, heard: [], watches: 0, tabs: new Set([tabId]) };
    armed.set(tabId, entry);
    return entry;
  }

  const orderOf = ({ dialog, until }) => ({ ms: Math.max(0, Math.ceil(until - now())), dialog });

  function disarm(entry) {
    for (const tabId of entry.tabs) {
      if (armed.get(tabId) !== entry) continue;
      armed.delete(tabId);
      scripts.order(tabId, { ms: 0 }).catch(() => {});
    }
  }

  browser.tabs.onCreated.addListener(({ id, openerTabId, pendingUrl, url }) => {
    const entry = armed.get(openerTabId);
    if (!entry) created.push(id);
    if (created.length > EVENTS_TOLD) created.shift();
    if (!entry || armed.has(id)) return;
    if (entry.tabs.size <= TABS_ARMED) {
      armed.set(id, entry);
      entry.tabs.add(id);
    }
    note(entry, { kind: 'tab', tabId: id, url: pendingUrl || url });
  });
  browser.tabs.onRemoved.addListener((tabId) => {
    armed.get(tabId)?.tabs.delete(tabId);
    armed.delete(tabId);
  });

  const events = {
    dialog({ dialog, text, accepted, value }) {
      const short = (given) => cutText(`${given}`, TEXT_TOLD_CHARS);
      return {
        dialog: short(dialog),
        text: short(text ?? ''),
        accepted: accepted === true,
        ...(value === undefined ? {} : { value: short(value) }),
      };
    },
    not_opened: ({ url }) => ({ url: cutText(`${url}`, URL_CHARS) }),
    link: ({ url }) => ({ url: cutText(`${url}`, URL_CHARS) }),
    file: ({ name, url }) => ({
      name: cutText(`${name}`, TEXT_TOLD_CHARS), url: cutText(`${url}`, URL_CHARS),
    }),
    error: ({ count }) => ({ count: counted(count) }),
    more: ({ count }) => ({ count: counted(count) }),
  };

  function counted(count) {
    return Number.isSafeInteger(count) && count > 0 ? Math.min(count, EVENTS_COUNTED) : 1;
  }

  return {
    /**
     * For a command that begins and runs for at most `timeoutMs`. New documents have stand-ins as soon as
     * this resolves, to `{enter, heard, created, end}`: `enter(tabId)` arms the existing documents of its
     * tab, `heard()` takes the events so far, `created(url)` finds a tab at that address without a known
     * opener, and `end()` must be called when the command is over.
     */
    async begin({ dialog = 'dismiss', timeoutMs }) {
      const watch = { dialog };
      wanting.add(watch);
      let entry;
      let entered;
      const place = new Promise((resolve) => { entered = resolve; });
      opening.add(place);
      await beginAsWanted();
      return {
        enter(tabId) {
          entry = entryOf(tabId);
          entry.watches += 1;
          // It ends by itself if this service worker no longer exists to end it.
          Object.assign(entry, { dialog, until: now() + timeoutMs + LINGER_MS });
          opening.delete(place);
          entered();
          return scripts.order(tabId, orderOf(entry));
        },

        heard: () => {
          const heard = entry?.heard.splice(0) ?? [];
          const isMore = ({ kind }) => kind === 'more';
          return [...heard.filter((event) => !isMore(event)), ...heard.filter(isMore)];
        },

        async created(url) {
          for (const [place, tabId] of created.entries()) {
            const tab = await browser.tabs.get(tabId).catch(() => undefined);
            if (tab && [tab.url, tab.pendingUrl].includes(url)) return created.splice(place, 1)[0];
          }
          return undefined;
        },

        end() {
          opening.delete(place);
          entered();
          watch.over = true;
          setTimeout(() => {
            wanting.delete(watch);
            beginAsWanted();
            if (!entry) return;
            entry.watches -= 1;
            if (entry.watches === 0) disarm(entry);
          }, LINGER_MS);
        },
      };
    },

    /**
     * Handles a message of page/relay.js about a document in the tab, and returns the answer for the
     * document.
     */
    async heard({ kind, ...what }, tabId) {
      if (kind === 'begun') {
        if (!armed.has(tabId)) await Promise.all(opening);
        const entry = armed.get(tabId);
        return entry ? orderOf(entry) : { ms: 0 };
      }
      const entry = armed.get(tabId);
      if (entry && Object.hasOwn(events, kind)) note(entry, { kind, ...events[kind](what) });
      return {};
    },
  };
}
