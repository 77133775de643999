import { invalidParams } from '../errors.js';
import { fetchedBody, notAgain } from '../fetched_body.js';
import { LOG_ENTRIES, NETWORK_ENTRIES } from '../limits.js';
import { isGiven, optionalInteger, optionalNonEmptyText } from '../params.js';
import { shownAddress } from '../secrets.js';

/** Types of requests that only read; opening a document may have side effects. */
const READ = ['xmlhttprequest', 'script', 'stylesheet'];

/** Words in the address of a GET request that may have side effects. */
const DOES = new RegExp([
  '(log|sign)[-_ ]?(out|off)', 'delete', 'remove', 'destroy', 'confirm', 'verif', 'subscri', 'cancel', 'accept',
  'approve', 'reject', 'revoke', 'activate', 'reset', 'submit', 'purchase', 'checkout', 'vote', 'toggle',
  'enable', 'disable', 'redeem', 'transfer', '(?<![a-z])(buy|pay|send|create|update|add)(?![a-z])',
].join('|'), 'i');

/**
 * Returns the latest requests of the tab, or all known details of one of them. That one may be fetched
 * again, which is more than reading.
 */
export const readNetwork = {
  readsOnly: ({ text }) => !isGiven({ text }, 'text'),

  check(params) {
    optionalInteger(params, 'limit', { least: 1, most: NETWORK_ENTRIES });
    optionalNonEmptyText(params, 'url_contains');
    optionalNonEmptyText(params, 'text');
  },

  async run({ tab, params, tools, signal }) {
    const { limit, url_contains: part, text: id } = params;
    const { network } = tools;
    if (isGiven(params, 'text')) return { url: tab.url, data: await whole(tab, id, tools, signal) };
    return { url: tab.url, data: network.recent(tab.id, limit ?? LOG_ENTRIES, part ?? '') };
  },
};

async function whole(tab, id, { network, fetch, isOff }, signal) {
  const { entry, url } = network.entry(tab.id, id) ?? {};
  if (!entry) {
    throw invalidParams('text', `no request has the id ${id}; network without text lists those there are`);
  }
  // The gateway's own responses are only for people.
  if (entry.method !== 'GET' || !/^https?:/.test(url) || await isOff(url)) return entry;
  const reason = reasonNotTo(entry, url);
  return { ...entry, response: reason ? notAgain(reason) : await fetchedBody(url, { fetch, signal }) };
}

/** The reason not to fetch an address again, or undefined. */
function reasonNotTo({ type, status }, url) {
  if (!READ.includes(type)) return 'only what scripts ask for, scripts and style sheets are asked for again';
  if (!(status >= 200 && status < 300)) return 'only what was answered with 2xx is asked for again';
  const { pathname, search } = new URL(url);
  const words = unescaped(pathname + search);
  const does = DOES.test(words) || shownAddress(url) !== url;
  return does ? 'to ask for this address again may do something' : undefined;
}

function unescaped(text) {
  return text.replace(/%[\da-f]{2}/gi, (code) => String.fromCharCode(parseInt(code.slice(1), 16)));
}
