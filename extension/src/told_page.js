import { TITLE_CHARS, URL_CHARS } from './limits.js';
import { shownAddress } from './secrets.js';

/** The address of a page as agents are told it: the same as `network` shows, without secrets in it. */
export function toldAddress(url) {
  return shownAddress((url ?? '').slice(0, URL_CHARS)).slice(0, URL_CHARS);
}

/** The title of a page; in the place of none the browser has some of its address, not as it is written. */
export function toldTitle(title) {
  return shownAddress((title ?? '').slice(0, TITLE_CHARS)).slice(0, TITLE_CHARS);
}
