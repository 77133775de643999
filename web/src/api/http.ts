import {signal} from '@preact/signals';
import {keep, stored} from '../ui/storage.ts';
import type {Json, Me, Role} from './types.ts';

// What the API has refused, in its words.
export class ApiError extends Error {
  constructor(
    readonly status: number,
    readonly code: string,
    message: string,
    readonly hint: string,
    // Milliseconds to wait before it makes sense again; 0 where nothing was said.
    readonly retryAfterMs = 0,
  ) {
    super(message);
  }
}

const keyName = 'callslip-login';

interface Login {
  name: string;
  role: Role;
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
// As this browser has it for all tabs.
let kept = stored(keyName);
let isLeaving = false;

// Who is looking; null until it is known.
export const me = signal<Me | null>(null);
// Whether somebody has to log in first, and why.
export const loginNeeded = signal<ApiError | null>(null);

export const key = () => login?.key ?? null;
export const canAct = () => me.value !== null && me.value.role !== 'viewer';
// Whether the gateway does not answer; whoever follows all sessions notices first.
export const isAway = signal(false);
// Whether what somebody does now can come about: what could not is off, and keeps what was written in it.
export const canActNow = () => canAct() && !isAway.value;
// Which clients' sessions to ask for: those who may see everybody's do.
export const whose = () => (me.value?.role === 'admin' || me.value?.role === 'viewer' ? '*' : '');

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

// An image, which needs the key in a header and so cannot be the src of an <img>.
export async function blob(path: string): Promise<Blob> {
  const response = await fetch(`/api${path}`, {headers: login ? {'X-Callslip-Key': login.key} : {}});
  if (!response.ok) throw new ApiError(response.status, 'http_error', `The download failed with HTTP status ${response.status}.`, '');
  return response.blob();
}

export const logIn = (token: string): Promise<void> => enter('/login', {token});

// Logs in by what is shown there.
export async function enter(path: string, shown: unknown): Promise<void> {
  const before = me.peek()?.name ?? '';
  login = await post<Login>(path, shown);
  keep(keyName, JSON.stringify(login));
  kept = stored(keyName);
  // What is in memory is somebody else's.
  if (before && before !== login.name) return leave();
  await findMe();
  loginNeeded.value = null;
}

// Milliseconds in which the gateway may take the other half back.
const logOutMs = 3_000;

// Shows nothing any more, nor a login that would be gone at once, and begins anew.
function leave(): void {
  isLeaving = true;
  me.value = loginNeeded.value = null;
  location.reload();
}

// In all tabs. Nothing that was shown, or is on its way, outlives the page.
export async function logOut(): Promise<void> {
  isLeaving = true;
  keep(keyName, null);
  kept = null;
  await call('POST', '/logout', {}, {signal: AbortSignal.timeout(logOutMs)}).catch(() => undefined);
  leave();
}

// Begins anew where another tab has logged out, or in as somebody else.
export function followLogin(): void {
  const look = () => { if (stored(keyName) !== kept && !isLeaving) leave(); };
  addEventListener('storage', look);
  // A tab that was frozen, or left and come back to, has heard of nothing.
  addEventListener('pageshow', look);
  document.addEventListener('visibilitychange', look);
}

// Throws where the gateway does not answer; sets loginNeeded where it wants a login.
export async function findMe(): Promise<void> {
  me.value = await get<Me>('/me');
}

// What to show a person, whatever was thrown.
export function wordsOf(error: unknown): {message: string; hint: string} {
  if (error instanceof ApiError) {
    const again = error.retryAfterMs > 0 ? `Try again in ${Math.ceil(error.retryAfterMs / 1000)} s.` : '';
    return {message: error.message, hint: [error.hint, again].filter(Boolean).join(' ')};
  }
  return {message: error instanceof Error ? error.message : String(error), hint: ''};
}
