import { TITLE_CHARS, URL_CHARS } from './limits.js';
import { shownAddress } from './secrets.js';
import { cutText } from './text.js';

/** The address of a page as reported to agents: the same as in `network`, without secrets. */
export function toldAddress(url) {
  return cutText(shownAddress(cutText(url ?? '', URL_CHARS)), URL_CHARS);
}

/** The title of a page. For a page without one the browser uses part of its address, in another notation. */
export function toldTitle(title) {
  return cutText(shownAddress(cutText(title ?? '', TITLE_CHARS)), TITLE_CHARS);
}
