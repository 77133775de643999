import { LOOPBACK } from './gateway_page.js';
import { SETTING_CHARS, TOKEN_CHARS } from './limits.js';

/**
 * What a person enters to pair this browser with a gateway. Each check returns the problem of a text as a
 * sentence, or null; an empty text stands for the default.
 */

/** URL.canParse is newer than the oldest supported browser. */
function parsed(text) {
  try {
    return new URL(text);
  } catch {
    return null;
  }
}

export function serverUrlProblem(text) {
  if (text === '') return null;
  const url = parsed(text);
  if (!url || !['http:', 'https:'].includes(url.protocol)) {
    return 'The address must start with http:// or https://.';
  }
  if (url.username || url.password || url.search || url.hash) {
    return 'The address must not contain a user name, a password, a ? or a #.';
  }
  return null;
}

/**
 * Returns the address of the gateway on this machine whose page `url` seems to be, judging by its path;
 * null for any other page. The caller must still verify that it is a gateway. Gateways of other machines
 * are not offered: any site could have such a page, and would then control this browser.
 */
export function gatewayOfPage(url) {
  const page = parsed(url);
  if (!page || !/^\/ui(\/|$)/.test(page.pathname) || !LOOPBACK.test(page.hostname)) return null;
  return ['http:', 'https:'].includes(page.protocol) ? page.origin : null;
}

/**
 * Returns a warning about an address as a sentence, or null: on the way to another machine, everyone on the
 * network can read the traffic.
 */
export function serverUrlWarning(text) {
  if (serverUrlProblem(text) || !text) return null;
  const { protocol, hostname } = new URL(text);
  const isHere = /^(localhost|127(\.\d+){3}|\[::1\])$/.test(hostname);
  if (protocol === 'https:' || isHere) return null;
  return 'Without https://, others on the network can read what this browser sends to that '
    + 'address, though not the token. Use https:// unless you control the whole network.';
}

/** A token is visible ASCII, in token files and in headers. */
export function tokenProblem(text) {
  if (text.length > TOKEN_CHARS) return `The token is longer than ${TOKEN_CHARS} characters.`;
  if (!/^[\x21-\x7e]*$/.test(text)) return 'The token must not contain spaces or non-ASCII characters.';
  return null;
}

export function targetProblem(text) {
  if (text.length > SETTING_CHARS) return `The target is longer than ${SETTING_CHARS} characters.`;
  if (!/^[\w.-]*$/.test(text)) {
    return 'The target can contain only letters, digits, dots, hyphens and underscores.';
  }
  return null;
}

export function nameProblem(text) {
  return text.length > SETTING_CHARS ? `The name is longer than ${SETTING_CHARS} characters.` : null;
}

/** The person must choose explicitly how the gateway is trusted: by token or without one. */
function pairingProblem({ token, openGateway }) {
  if (token || openGateway) return null;
  return 'Enter the token, or select “This gateway requires no token”.';
}

/** The first problem of `{serverUrl, token, openGateway, target, name}` as `{field, problem}`, or null. */
export function settingsProblem(settings) {
  const checks = {
    serverUrl: serverUrlProblem,
    token: tokenProblem,
    target: targetProblem,
    name: nameProblem,
  };
  for (const [field, check] of Object.entries(checks)) {
    const problem = check(settings[field]);
    if (problem) return { field, problem };
  }
  const problem = pairingProblem(settings);
  return problem && { field: 'token', problem };
}

/**
 * Parses a pairing text, `callslip:http://127.0.0.1:7890#TOKEN`, into `{serverUrl, token}`; null for any
 * other text. A text without a token belongs to a gateway that requires none. It is pasted, never opened: a
 * token must not get into the browser history.
 */
export function parsePairing(text) {
  const [, serverUrl, token = ''] = text.trim().match(/^callslip:([^#\s]+)(?:#(\S*))?$/i) ?? [];
  if (!serverUrl || serverUrlProblem(serverUrl) || tokenProblem(token)) return null;
  return { serverUrl, token };
}
