import { restrictedPage } from './errors.js';

const LOOPBACK = /^(localhost|.+\.localhost|127\.\d+\.\d+\.\d+|\[::1\]|0\.0\.0\.0|\[::\])$/i;

/**
 * Whether `url` is a page of the gateway at `serverUrl`, by any of its names on this machine: there
 * people answer what agents ask for, and an agent that drives this browser is not to do so for them.
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
  // What a page has made of itself is of its origin.
  if (page.protocol === 'blob:') return isGatewayPage(page.pathname, serverUrl);
  if (!/^https?:$/.test(page.protocol)) return false;
  const portOf = ({ protocol, port }) => port || (protocol === 'https:' ? '443' : '80');
  if (portOf(page) !== portOf(gateway)) return false;
  return page.hostname === gateway.hostname
    || (LOOPBACK.test(page.hostname) && LOOPBACK.test(gateway.hostname));
}

export function gatewayPage(url) {
  return restrictedPage(url,
    'it is the gateway\'s own, where people answer agents. No agent acts there.');
}
