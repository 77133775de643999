import { restrictedPage } from './errors.js';

/** Host names of this machine. */
export const LOOPBACK = new RegExp('^(localhost|.+\\.localhost|127\\.\\d+\\.\\d+\\.\\d+|0\\.0\\.0\\.0|\\[::1?\\]'
  + '|\\[::ffff:(7f[\\da-f]{2}:[\\da-f]+|0:0)\\])$', 'i');

/**
 * Whether `url` is a page of the gateway at `serverUrl`, under any of its names on this machine. There a
 * person answers requests of agents, and an agent that controls this browser must not answer in the
 * person's place.
 */
export function isGatewayPage(url, serverUrl) {
  let page;
  let gateway;
  try {
    page = new URL(url.replace(/^view-source:/i, ''));
    gateway = new URL(serverUrl);
  } catch {
    return false;
  }
  // A blob: URL has the origin of the page that created it.
  if (page.protocol === 'blob:') return isGatewayPage(page.pathname, serverUrl);
  if (!/^https?:$/.test(page.protocol)) return false;
  const portOf = ({ protocol, port }) => port || (protocol === 'https:' ? '443' : '80');
  if (portOf(page) !== portOf(gateway)) return false;
  const [host, own] = [page, gateway].map(({ hostname }) => hostname.replace(/\.$/, ''));
  return host === own || (LOOPBACK.test(host) && LOOPBACK.test(own));
}

export function gatewayPage(url) {
  return restrictedPage(url,
    'it is the gateway\'s own, where people answer agents. No agent acts there.');
}
