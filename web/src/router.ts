import {signal} from '@preact/signals';

// The user's location in the page: everything worth sharing is in the address.
export interface Place {
  // The first segment of the path below /ui/, which selects the page. Empty for the default page.
  page: string;
  // The second segment, such as the id of a session; empty if absent.
  id: string;
  query: URLSearchParams;
}

export const base = '/ui/';

export function parse(path: string, search: string): Place {
  const query = new URLSearchParams(search);
  const words = path.slice(path.startsWith(base) ? base.length : 0).split('/').filter(Boolean);
  if (words.length > 2) return {page: 'unknown', id: '', query};
  try {
    return {page: words[0] ?? '', id: decodeURIComponent(words[1] ?? ''), query};
  } catch {
    return {page: 'unknown', id: '', query};
  }
}

export const sessionPath = (id: string, query = ''): string =>
  `${base}sessions/${encodeURIComponent(id)}${query && `?${query}`}`;

const here = () => parse(location.pathname, location.search);
export const place = signal<Place>(typeof location === 'undefined' ? parse(base, '') : here());

export function go(path: string, options: {replace?: boolean} = {}): void {
  if (path === location.pathname + location.search) return;
  history[options.replace ? 'replaceState' : 'pushState'](null, '', path);
  place.value = here();
}

// The current address with changes to the query; an empty value removes a parameter.
export function queryWith(changes: Record<string, string>): string {
  const query = new URLSearchParams(place.value.query);
  for (const [name, value] of Object.entries(changes)) {
    if (value) query.set(name, value);
    else query.delete(name);
  }
  return `${location.pathname}${query.size ? `?${query}` : ''}`;
}

export function setQuery(changes: Record<string, string>): void {
  go(queryWith(changes), {replace: true});
}

// Follows links within the page without reloading it.
export function followLinks(): void {
  addEventListener('popstate', () => { place.value = here(); });
  document.addEventListener('click', event => {
    if (event.defaultPrevented || event.button !== 0) return;
    if (event.metaKey || event.ctrlKey || event.shiftKey || event.altKey) return;
    const link = event.target instanceof Element ? event.target.closest('a') : null;
    if (!link || link.target || link.hasAttribute('download') || link.origin !== location.origin) return;
    if (!link.pathname.startsWith(base)) return;
    event.preventDefault();
    go(link.pathname + link.search);
  });
}
