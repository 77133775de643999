import {signal} from '@preact/signals';
import {keep, stored} from '../ui/storage.ts';
import type {Json, Me} from './types.ts';

// An error reported by the API, in the API's words.
export class ApiError extends Error {
  constructor(
    readonly status: number,
    readonly code: string,
    message: string,
    readonly hint: string,
    // Milliseconds to wait before a retry makes sense; 0 if unknown.
    readonly retryAfterMs = 0,
  ) {
    super(message);
  }
}

const keyName = 'callslip-login';

interface Login {
  name: string;
  role: string;
  key: string;
}

function storedLogin(): Login | null {
  try {
    const login = JSON.parse(stored(keyName) ?? 'null') as Login | null;
    return typeof login?.key === 'string' ? login : null;
  } catch {
    return null;
  }
}

let login = storedLogin();
// The stored login, shared by all tabs of this browser.
let kept = stored(keyName);
let isLeaving = false;

// The current user; null until known.
export const me = signal<Me | null>(null);
// Why a login is required; null if it is not.
export const loginNeeded = signal<ApiError | null>(null);

export const key = () => login?.key ?? null;
export const canAct = () => me.value?.may_act === true;
// Whether the gateway is not responding; the session list's connection detects this first.
export const isAway = signal(false);
// Whether actions can succeed now. If not, controls are disabled but keep what was typed.
export const canActNow = () => canAct() && !isAway.value;
// The client filter for sessions: `*` for users who can see the sessions of all clients.
export const whose = () => (me.value?.sees_all_clients ? '*' : '');

export async function call<T = Json>(
  method: string, path: string, body?: unknown, options: {signal?: AbortSignal; type?: string} = {},
): Promise<T> {
  const headers: Record<string, string> = {};
  if (login) headers['X-Callslip-Key'] = login.key;
  if (method === 'POST' || method === 'PUT' || method === 'PATCH') {
    headers['Content-Type'] = options.type ?? 'application/json';
  }
  let response: Response;
  try {
    response = await fetch(`/api${path}`, {
      method, headers, signal: options.signal ?? null,
      body: body === undefined ? null : options.type ? (body as Blob) : JSON.stringify(body),
    });
  } catch (error) {
    if (error instanceof DOMException && error.name === 'AbortError') throw error;
    throw new ApiError(0, 'gateway_unreachable', 'The gateway cannot be reached.',
      'Nothing was lost. Try again once it is back.');
  }
  if (response.status === 204) return undefined as T;
  const isJson = (response.headers.get('Content-Type') ?? '').startsWith('application/json');
  const answer: unknown = isJson ? await response.json().catch(() => null) : null;
  if (response.ok) return answer as T;
  const told = (answer ?? {}) as {error?: string; message?: string; hint?: string};
  const failure = new ApiError(
    response.status, told.error ?? 'http_error',
    told.message ?? `The gateway returned HTTP status ${response.status}.`, told.hint ?? '',
    Number(response.headers.get('Retry-After') ?? 0) * 1000);
  if (response.status === 401 && !path.startsWith('/login') && !isLeaving) loginNeeded.value = failure;
  throw failure;
}

export const get = <T>(path: string, abort?: AbortSignal) =>
  call<T>('GET', path, undefined, abort ? {signal: abort} : {});
export const post = <T>(path: string, body: unknown = {}) => call<T>('POST', path, body);

// Fetches an image, which needs the key in a header and so cannot be the src of an <img>.
export async function blob(path: string): Promise<Blob> {
  const response = await fetch(`/api${path}`, {headers: login ? {'X-Callslip-Key': login.key} : {}});
  if (!response.ok) throw new ApiError(response.status, 'http_error', `The download failed with HTTP status ${response.status}.`, '');
  return response.blob();
}

export const logIn = (token: string): Promise<void> => enter('/login', {token});

// Logs in with the credentials in `shown`.
export async function enter(path: string, shown: unknown): Promise<void> {
  const before = me.peek()?.name ?? '';
  login = await post<Login>(path, shown);
  keep(keyName, JSON.stringify(login));
  kept = stored(keyName);
  // The data in memory belongs to another user.
  if (before && before !== login.name) return leave();
  await findMe();
  loginNeeded.value = null;
}

// Milliseconds in which the gateway can revoke its half of the login.
const logOutMs = 3_000;

// Hides everything, including a login form that would disappear at once, and reloads the page.
function leave(): void {
  isLeaving = true;
  me.value = loginNeeded.value = null;
  location.reload();
}

// Logs out in all tabs. Nothing that was shown, or is being loaded, outlives the page.
export async function logOut(): Promise<void> {
  isLeaving = true;
  keep(keyName, null);
  kept = null;
  await call('POST', '/logout', {}, {signal: AbortSignal.timeout(logOutMs)}).catch(() => undefined);
  leave();
}

// Reloads the page if another tab has logged out, or has logged in as another user.
export function followLogin(): void {
  const look = () => { if (stored(keyName) !== kept && !isLeaving) leave(); };
  addEventListener('storage', look);
  // A frozen tab, or one restored from the history, has received no storage events.
  addEventListener('pageshow', look);
  document.addEventListener('visibilitychange', look);
}

// Throws if the gateway does not answer; sets loginNeeded if it requires a login.
export async function findMe(): Promise<void> {
  me.value = await get<Me>('/me');
}

// An id for what is created only once, however often it is requested.
export const newId = (): string =>
  [...crypto.getRandomValues(new Uint8Array(12))].map(byte => byte.toString(16).padStart(2, '0')).join('');

// The message and hint to show for any error.
export function wordsOf(error: unknown): {message: string; hint: string} {
  if (error instanceof ApiError) {
    const again = error.retryAfterMs > 0 ? `Try again in ${Math.ceil(error.retryAfterMs / 1000)} s.` : '';
    return {message: error.message, hint: [error.hint, again].filter(Boolean).join(' ')};
  }
  return {message: error instanceof Error ? error.message : String(error), hint: ''};
}
