import { TABS_OPENED, URL_TOLD_CHARS } from './limits.js';
import { cutText } from './text.js';
import { toldAddress } from './told_page.js';

/**
 * Formats as lines the events outside the page content while an action ran: dialogs, new tabs, saved files,
 * errors. The first windows that the browser blocked are opened as tabs if they have an address, unless
 * `isOff(url)` is true because agents must not act there. They open in the background, so the visible tab
 * stays the same.
 */
export function createEventLines({ browser, network, isOff = () => false }) {
  /** Empty for a tab that is already closed. */
  async function openedLine(tabId) {
    try {
      const { pendingUrl, url } = await browser.tabs.get(tabId);
      return [`tab ${tabId} opened ${place(pendingUrl || url)}`];
    } catch {
      return [];
    }
  }

  const canOpen = async (url) => /^https?:/.test(url) && !(await isOff(url));

  async function openInstead(tab, url) {
    const { id, index, windowId } = await browser.tabs.get(tab.id);
    const made = await browser.tabs.create({
      url, index: index + 1, windowId, active: false, openerTabId: id,
    });
    return openedLine(made.id);
  }

  async function tabLines(tab, watch, heard) {
    const tabs = heard.filter(({ kind }) => kind === 'tab');
    const named = tabs.map(({ url }) => url);
    const tabIds = tabs.map(({ tabId }) => tabId);
    const blocked = [];
    for (const { kind, url } of heard.filter((event) => ['link', 'not_opened'].includes(event.kind))) {
      const place = named.indexOf(url);
      if (place >= 0) {
        named.splice(place, 1);
        continue;
      }
      const tabId = await watch.created(url);
      if (tabId !== undefined) tabIds.push(tabId);
      else if (kind === 'not_opened') blocked.push(url);
    }
    const lines = [];
    for (const tabId of tabIds) lines.push(...await openedLine(tabId));
    let opened = 0;
    for (const url of blocked) {
      if (opened < TABS_OPENED && await canOpen(url)) {
        opened += 1;
        lines.push(...await openInstead(tab, url));
      } else {
        lines.push(`popup_blocked ${place(url)}`);
      }
    }
    return lines;
  }

  function fileLines(tab, heard, beganAt) {
    const saved = network.downloads(tab.id, beganAt);
    for (const { name, url } of heard.filter(({ kind }) => kind === 'file')) {
      if (!saved.some((file) => file.url === url)) saved.push({ name: name || lastPart(url) });
    }
    return saved.map(({ name }) => `download ${oneLine(name, URL_TOLD_CHARS)}`);
  }

  /** `{lines, more}`: `more` is the minimum number of further events. */
  return async function eventLines({ tab, watch, beganAt }) {
    const heard = watch.heard();
    const countOf = (wanted) => heard.filter(({ kind }) => kind === wanted)
      .reduce((sum, { count }) => sum + count, 0);
    const [errors, more] = [countOf('error'), countOf('more')];
    const lines = [
      ...heard.filter(({ kind }) => kind === 'dialog').map(dialogLine),
      ...await tabLines(tab, watch, heard),
      ...fileLines(tab, heard, beganAt),
      ...(errors > 0 ? [`console ${errors} error${errors > 1 ? 's' : ''}`] : []),
    ];
    return { lines, more };
  };
}

/** The text of a page cannot imitate another line of the report. */
function dialogLine({ dialog, text, accepted, value }) {
  const asked = `dialog ${/^\w+$/.test(dialog) ? dialog : 'unknown'} ${quoted(text)}`;
  if (dialog === 'alert') return asked;
  if (!accepted) return `${asked} dismissed`;
  return value === undefined ? `${asked} accepted` : `${asked} answered ${quoted(value)}`;
}

function quoted(text) {
  return JSON.stringify(oneLine(text, text.length).trim());
}

function place(url) {
  return oneLine(toldAddress(url), URL_TOLD_CHARS);
}

function lastPart(url) {
  return /^https?:/.test(url) ? new URL(url).pathname.split('/').at(-1) || 'download' : 'download';
}

/** Removes characters that would begin another line, or reverse its direction. */
export function oneLine(text, chars) {
  const line = text.replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]+/gu, ' ');
  return line.length > chars ? `${cutText(line, chars)}…` : line;
}
