import { RESULT_BYTES } from './limits.js';

/**
 * A failure that is reported to the gateway in these words. `mayHaveExecuted` is null if only the caller
 * knows whether the page had been touched when the error occurred.
 */
export class CommandError extends Error {
  constructor({ code, message, hint, mayHaveExecuted = null, url }) {
    super(message);
    this.name = 'CommandError';
    this.code = code;
    this.hint = hint;
    this.mayHaveExecuted = mayHaveExecuted;
    this.url = url;
  }
}

export function invalidParams(field, requirement) {
  return new CommandError({
    code: 'invalid_params',
    message: `${field}: ${requirement}`,
    mayHaveExecuted: false,
  });
}

export function unknownAction(action, known) {
  return new CommandError({
    code: 'unknown_action',
    message: `This extension has no action named ${JSON.stringify(action ?? null)}.`,
    hint: `The actions are: ${known.join(', ')}.`,
    mayHaveExecuted: false,
  });
}

export function unknownCommandType(type) {
  return new CommandError({
    code: 'unknown_action',
    message: `This extension has no command type named ${JSON.stringify(type ?? null)}.`,
    hint: 'The only command type is browser_action.',
    mayHaveExecuted: false,
  });
}

export function tabGone(tabId) {
  return new CommandError({
    code: 'tab_gone',
    message: `Tab ${tabId} does not exist or has been closed.`,
    hint: 'Leave tab_id out to use the active tab. No other tab was touched.',
  });
}

export function noActiveTab() {
  return new CommandError({
    code: 'no_active_tab',
    message: 'No browser window has an active tab.',
    hint: 'Open a tab, or name one with tab_id.',
    mayHaveExecuted: false,
  });
}

export function restrictedPage(url, reason) {
  return new CommandError({
    code: 'restricted_page',
    message: `Browser extensions cannot act on this page: ${reason}`,
    hint: 'Use navigate to go to an http or https page first.',
    mayHaveExecuted: false,
    url,
  });
}

export function pageNavigated() {
  return new CommandError({
    code: 'page_navigated',
    message: 'The page was replaced before the command had finished in it.',
    hint: 'If the command itself led to another page, it has had its effect. Look at the page.',
    mayHaveExecuted: true,
  });
}

export function frameGone() {
  return new CommandError({
    code: 'frame_gone',
    message: 'The frame was removed from the page, or has loaded another document.',
    hint: 'Look at the page again: analyze page.',
  });
}

/** `was` describes the element of the ref, `candidates` are lines of elements that could replace it. */
export function staleRef({ ref, was, candidates = [], url }) {
  const like = candidates.length > 0 ? `It could be: ${candidates.join('; ')}` : 'Nothing like it is there.';
  return new CommandError({
    code: 'stale_ref',
    message: `${ref}${was ? ` (${was})` : ''} is not in the page any more; nothing was done.`,
    hint: `${like} Look at the page again: analyze page.`,
    mayHaveExecuted: false,
    url,
  });
}

export function frameUnreachable(reason) {
  return new CommandError({
    code: 'frame_unreachable',
    message: `The browser lets no extension act in this frame: ${reason}`,
    hint: 'What is around the frame can be acted on, and a screenshot shows what is in it.',
    mayHaveExecuted: false,
  });
}

export function pageBlocked({ mayHaveExecuted }) {
  return new CommandError({
    code: 'page_blocked',
    message: 'The page does not answer: a dialog of the browser is open in it, or a script keeps it busy.',
    hint: 'Ask the person to answer the dialog, or wait. navigate and reload get past a dialog, and past a busy script to another site.',
    mayHaveExecuted,
  });
}

export function fileUnavailable(message) {
  return new CommandError({
    code: 'file_unavailable',
    message,
    hint: 'Call upload again: files wait at the gateway for a few minutes only.',
    mayHaveExecuted: false,
  });
}

export function noHistory(direction, hint) {
  return new CommandError({
    code: 'no_history',
    message: `There is no page to go ${direction} to in the history of the tab.`,
    hint,
    mayHaveExecuted: false,
  });
}

/** `request` is from network_log.js; `where` states what happened to the tab. */
export function notAPage({ status, error, name }, { url, where }) {
  const hasContent = status >= 200 && status < 300 && ![204, 205].includes(status);
  // A browser that received no page may report that as an error too.
  const what = status && !hasContent ? `The server sent no page (status ${status})`
    : error || !status ? `The address led to no page${error ? ` (${error})` : ''}`
      : `The address is a download, which the browser saves${name ? ` as ${name}` : ''}`;
  return new CommandError({
    code: 'not_a_page',
    message: `${what}; ${where}.`,
    hint: 'The server has already received the request. Do not repeat it to see a page.',
    mayHaveExecuted: true,
    url,
  });
}

export function resultTooLarge(bytes) {
  return new CommandError({
    code: 'result_too_large',
    message: `The result is ${bytes} bytes long; the limit is ${RESULT_BYTES}.`,
    hint: 'Ask for a part of it, for instance with slice(), or for fewer fields.',
    mayHaveExecuted: true,
  });
}

/** For the next service worker, which reports the unfinished commands of its predecessor. */
export function cutShort({ begun }) {
  return new CommandError({
    code: 'execution_failed',
    message: begun
      ? 'The browser restarted the extension while the command was running.'
      : 'The browser restarted the extension before the command had begun.',
    hint: begun ? 'Look at the page before you repeat the command.' : 'Send it again.',
    mayHaveExecuted: begun,
  });
}

export function executionFailed(message, { mayHaveExecuted = null, url } = {}) {
  return new CommandError({ code: 'execution_failed', message, mayHaveExecuted, url });
}
