import { TITLE_CHARS, URL_CHARS } from './limits.js';
import { shownAddress } from './secrets.js';
import { cutText } from './text.js';

/** The address of a page as agents are told it: the same as `network` shows, without secrets in it. */
export function toldAddress(url) {
  return cutText(shownAddress(cutText(url ?? '', URL_CHARS)), URL_CHARS);
}

/** The title of a page; in the place of none the browser has some of its address, not as it is written. */
export function toldTitle(title) {
  return cutText(shownAddress(cutText(title ?? '', TITLE_CHARS)), TITLE_CHARS);
}
