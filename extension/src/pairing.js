import { LOOPBACK } from './gateway_page.js';
import { SETTING_CHARS, TOKEN_CHARS } from './limits.js';

/**
 * What a person enters to pair this browser with a gateway. Each check answers what is wrong with
 * a text, as a sentence, or null; an empty text stands for the default.
 */

/** URL.canParse is younger than the oldest browser that we run in. */
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
 * The address of the gateway of this machine whose own page is at `url`, as pages of gateways are by
 * their paths; null for any other page. Whether it is one is still to be found out. Those of other
 * machines are not offered: any of them could have such a page, and would then use this browser.
 */
export function gatewayOfPage(url) {
  const page = parsed(url);
  if (!page || !/^\/ui(\/|$)/.test(page.pathname) || !LOOPBACK.test(page.hostname)) return null;
  return ['http:', 'https:'].includes(page.protocol) ? page.origin : null;
}

/**
 * What to think of before an address is used, as a sentence, or null: on the way to another
 * machine everybody reads along.
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

/** Whose word counts as the gateway's has to be said, one way or the other. */
function pairingProblem({ token, openGateway }) {
  if (token || openGateway) return null;
  return 'Enter the token, or select “This gateway requires no token”.';
}

/**
 * The first problem of `{serverUrl, token, openGateway, target, name}` as `{field, problem}`, or
 * null.
 */
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
 * Reads a pairing text, `callslip:http://127.0.0.1:7890#TOKEN`, into `{serverUrl, token}`; null
 * for any other text. One without a token is that of a gateway that asks for none. It is pasted, never opened: a token must not get into a history.
 */
export function parsePairing(text) {
  const [, serverUrl, token = ''] = text.trim().match(/^callslip:([^#\s]+)(?:#(\S*))?$/i) ?? [];
  if (!serverUrl || serverUrlProblem(serverUrl) || tokenProblem(token)) return null;
  return { serverUrl, token };
}
