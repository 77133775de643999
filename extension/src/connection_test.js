import { CONNECTION_TEST_MS } from './limits.js';
import { createProvenFetch, SpoofedGateway } from './proven_fetch.js';

/** The gateway's codes for rejecting a caller. */
const REFUSALS = {
  token_missing: 'The gateway requires a token. Enter one.',
  token_unknown: 'The gateway does not know this token.',
  role_not_allowed: 'This is not a worker token. Use the one named “extension”.',
  origin_not_allowed: 'The gateway does not accept this extension. Check its --allowed-origins.',
  host_not_allowed: 'The gateway does not accept this address. Check its --allowed-hosts.',
};

/** The meaning of the gateway's rejection, as a sentence; undefined for any other text. */
export function refusalIn(text) {
  const code = Object.keys(REFUSALS).find((each) => text.includes(`"${each}"`));
  return REFUSALS[code];
}

/** The gateway's answer to a report that is about no command. It changes nothing. */
const LET_IN = 'missing_correlation_id';

/**
 * Checks whether a gateway would serve this browser; resolves to `{ok, sentence}`, with `asksForToken` true
 * if it would with a token. It does not poll for commands, because it could get some.
 */
export async function testConnection({ serverUrl, token, fetch, wallNow }) {
  const root = serverUrl.replace(/\/+$/, '');
  const problem = (sentence, more = {}) => ({ ok: false, sentence, ...more });

  const provenFetch = createProvenFetch({ serverUrl, token, fetch, wallNow });
  const ask = (path, options) =>
    provenFetch(path, { ...options, signal: AbortSignal.timeout(CONNECTION_TEST_MS) });

  let ready;
  let report;
  try {
    ready = await ask('/readyz');
    const headers = { 'Content-Type': 'application/json' };
    report = await ask('/query-result', { method: 'POST', headers, body: '{}' });
  } catch (error) {
    if (error instanceof SpoofedGateway) {
      return problem(`The program at ${root} does not know this token. Use the token of the line `
        + '“worker extension” in the token file of your gateway, and check that no other program '
        + 'listens there.');
    }
    return problem(`No response from ${root}. Is the gateway running there?`);
  }
  const refusal = refusalIn(report.text);
  if (refusal) return problem(refusal, { asksForToken: report.text.includes('"token_missing"') });
  if (!report.text.includes(`"${LET_IN}"`)) {
    return problem(`The program at ${root} is not a Callslip gateway.`);
  }
  if (ready.status !== 200) {
    return problem('The gateway accepts this browser, but cannot reach its tracker.');
  }
  return { ok: true, sentence: 'Connected: the gateway accepts this browser.' };
}
