import {ApiError, enter, get, post} from './http.ts';

// Logs in through the authorization server: authorization code with PKCE (RFC 7636). The gateway provides the URL and
// exchanges the code; no token reaches the page.
export interface Provider {
  issuer: string;
}
export interface LoginWays {
  token: boolean;
  provider?: Provider;
}

// State that must survive until the user comes back: in this tab only, and for one use.
interface Journey {
  state: string;
  verifier: string;
  issuer: string;
  // The page that the user wanted to open.
  to: string;
}
const name = 'callslip-journey';
const returnPath = '/ui/login';
export const loginWays = (): Promise<LoginWays> => get<LoginWays>('/login');
export const hostOf = ({issuer}: Provider): string => new URL(issuer).host;

const base64Url = (bytes: Uint8Array): string =>
  btoa(String.fromCharCode(...bytes)).replaceAll('+', '-').replaceAll('/', '_').replaceAll('=', '');

// The code challenge for the verifier (S256).
export async function challengeOf(verifier: string): Promise<string> {
  const digest = await crypto.subtle.digest('SHA-256', new TextEncoder().encode(verifier));
  return base64Url(new Uint8Array(digest));
}

// Leaves the page.
export async function goToProvider(provider: Provider): Promise<void> {
  // Browsers provide crypto.subtle only in secure contexts.
  if (!isSecureContext) {
    throw new ApiError(0, 'insecure_page', "Over plain http, signing in with an authorization server works only on the gateway's machine.",
      "Open this page over https, or on the gateway's machine.");
  }
  const verifier = base64Url(crypto.getRandomValues(new Uint8Array(32)));
  const {state, url} = await post<{state: string; url: string}>('/login/provider/begin', {code_challenge: await challengeOf(verifier)});
  const journey: Journey = {state, verifier, issuer: provider.issuer,
    to: location.pathname === returnPath ? '/ui/' : location.pathname + location.search};
  sessionStorage.setItem(name, JSON.stringify(journey));
  location.assign(url);
}

// Whether the user is coming back from the authorization server.
export const isBack = (): boolean =>
  location.pathname === returnPath && /[?&](code|error)=/.test(location.search);

// Completes the login, and returns the page that the user wanted to open. Works only once per login attempt.
export async function finish(): Promise<string> {
  const told = new URLSearchParams(location.search);
  const journey = JSON.parse(sessionStorage.getItem(name) ?? 'null') as Journey | null;
  sessionStorage.removeItem(name);
  history.replaceState(null, '', returnPath);
  const issuer = told.get('iss');
  // Another user's code would log in this user as the other one.
  if (!journey || told.get('state') !== journey.state || (issuer !== null && issuer !== journey.issuer)) {
    throw new ApiError(0, 'login_elsewhere', 'This sign-in was not started in this tab.', 'Sign in again here.');
  }
  const error = told.get('error');
  if (error) {
    throw new ApiError(0, 'login_refused', `${new URL(journey.issuer).host} rejected the sign-in: ${told.get('error_description') ?? error}`,
      'Sign in again, or ask its administrator.');
  }
  await enter('/login/provider', {state: journey.state, code: told.get('code'), code_verifier: journey.verifier});
  return journey.to;
}
