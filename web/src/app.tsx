import {effect, untracked} from '@preact/signals';
import {type ComponentType} from 'preact';
import {useEffect, useState} from 'preact/hooks';
import {findMe, logOut, loginNeeded, me, wordsOf} from './api/http.ts';
import {FailedPage} from './commands/failed.tsx';
import {CommandsPage} from './commands/table.tsx';
import {WorkersPage} from './commands/workers.tsx';
import {Login} from './login.tsx';
import {OverviewPage} from './overview/overview.tsx';
import {base, go, place} from './router.ts';
import {SessionPage} from './session_page/page.tsx';
import {SessionList, Welcome} from './session_list/list.tsx';
import {connection, follow, lastHeard, needing, unfollow} from './session_list/store.ts';
import {isFirstVisit, StartPage} from './start/start.tsx';
import {announced} from './ui/announce.ts';
import {duration, now} from './ui/clock.ts';
import {Dialog} from './ui/dialog.tsx';
import {Boundary, Refusal} from './ui/failure.tsx';
import {useSingleKeys} from './ui/keys.ts';
import {Notifications} from './session_list/notifications.tsx';
import {setSingleKeys, shortcuts, singleKeys} from './ui/shortcuts.ts';
import {keep, stored} from './ui/storage.ts';

// A page, selected by the first segment of the path.
interface Page {
  path: string;
  title: string;
  view: ComponentType<{id: string}>;
  // Shown next to the link; `says` is its accessible description.
  badge?: () => {count: number; says: string};
}
// The page at /ui/.
const first = 'sessions';
const pages: Page[] = [
  {path: 'overview', title: 'Overview', view: OverviewPage},
  {path: 'sessions', title: 'Sessions', view: Sessions, badge: () => ({count: needing.value, says: 'need attention'})},
  {path: 'commands', title: 'Commands', view: CommandsPage},
  {path: 'failed', title: 'Failed', view: FailedPage},
  {path: 'workers', title: 'Workers', view: WorkersPage},
];
// Linked from the help.
const start: Page = {path: 'start', title: 'Get started', view: StartPage};

// Null while unknown; undefined if there is no such page.
function pageAt(path: string): Page | null | undefined {
  if (path === start.path) return start;
  if (path === '' && isFirstVisit() !== false) return null;
  // `login` is the path after a return from a login.
  return pages.find(each => each.path === (path === 'login' ? first : path || first));
}

function Sessions({id}: {id: string}) {
  return (
    <div class={`sessions ${id ? 'has-session' : ''}`}>
      <Boundary what="The session list"><SessionList current={id} /></Boundary>
      <div class="beside">{id ? <Boundary what={`Session ${id}`}><SessionPage key={id} id={id} /></Boundary> : <Welcome />}</div>
    </div>);
}

export function App() {
  const [failed, setFailed] = useState<unknown>(null);
  const begin = () => {
    setFailed(null);
    void findMe().catch(error => { if (!loginNeeded.peek()) setFailed(error); });
  };
  useEffect(begin, []);
  useKeys();
  if (loginNeeded.value) return <Login />;
  if (failed !== null) return <Away error={failed} again={begin} />;
  if (!me.value) return <p class="empty" aria-busy="true">Loading…</p>;
  const {page: path, id} = place.value;
  const page = pageAt(path);
  if (page === null) return <p class="empty" aria-busy="true">Loading…</p>;
  return (
    <>
      <Boundary what="The page header"><Top current={page?.path ?? ''} /></Boundary>
      <Banner />
      <main id="main">
        {page
          ? <Boundary what={page.title}><page.view id={id} /></Boundary>
          : <div class="empty"><h1>Page not found</h1><p><a href={base}>Go to sessions</a></p></div>}
      </main>
      <Refusal />
      <div class="sr" role="log" aria-live="polite">{announced.value}</div>
    </>);
}

// Follows all sessions while the user is known.
effect(() => {
  const isKnown = me.value !== null && !loginNeeded.value;
  untracked(isKnown ? follow : unfollow);
});

// New users are redirected to the start page.
effect(() => {
  if (place.value.page === '' && me.value !== null && !loginNeeded.value && isFirstVisit()) {
    untracked(() => go(`${base}${start.path}`, {replace: true}));
  }
});

// The title shows the number of sessions that need attention, so that it is visible from another tab.
effect(() => {
  const title = 'Callslip';
  document.title = needing.value > 0 ? `(${needing.value}) ${title}` : title;
});

function Top({current}: {current: string}) {
  const [isHelping, setHelping] = useState(false);
  useSingleKeys(({key}) => { if (key === '?') setHelping(true); });
  return (
    <header class="top">
      <a class="skip" href="#main">Skip to content</a>
      <a class="brand" href={base}><img src={`${base}icon.svg`} alt="" width="20" height="20" />Callslip</a>
      <nav aria-label="Pages">
        {pages.map(({path, title, badge}) => {
          const shown = badge?.();
          return (
            <a key={path} href={`${base}${path}`} aria-current={path === current ? 'page' : undefined}>{title}
              {shown && shown.count > 0 && <span class="badge" title={`${shown.count} ${shown.says}`}>{shown.count}<span class="sr">{` ${shown.says}`}</span></span>}
            </a>);
        })}
      </nav>
      <Connection />
      <span class="who">{me.value && [...new Set([me.value.name, me.value.role])].join(' · ')}</span>
      <Theme />
      <button type="button" class="quiet" aria-label="Help" onClick={() => setHelping(true)}>?</button>
      {me.value?.tokens && <button type="button" class="quiet" onClick={() => void logOut()}>Sign out</button>}
      {isHelping && <Help onClose={() => setHelping(false)} />}
    </header>);
}

const states = {live: 'live', connecting: 'connecting', lost: 'connection lost', closed: 'not connected'};

function Connection() {
  return (
    <span role="status" aria-label="Connection" class={`connection ${connection.value}`}>
      <span aria-hidden="true">●</span>{` ${states[connection.value]}`}
    </span>);
}

function Banner() {
  if (connection.value !== 'lost') return null;
  return (
    <p class="banner" role="status">
      {`The gateway is not responding${lastHeard.value ? `; the data shown is ${duration(now.value - lastHeard.value)} old` : ''}. `}
      Reconnecting… Your drafts are kept.
    </p>);
}

function Theme() {
  const names = {'': 'system', light: 'light', dark: 'dark'};
  const order = ['', 'light', 'dark'] as const;
  const [theme, setTheme] = useState(() => (stored('callslip-theme') ?? '') as keyof typeof names);
  const next = order[(order.indexOf(theme) + 1) % order.length]!;
  return (
    <button type="button" class="quiet" aria-label={`Theme: ${names[theme]}. Switch to ${names[next]}`} title={`Theme: ${names[theme]}`}
      onClick={() => {
        setTheme(next);
        keep('callslip-theme', next || null);
        document.documentElement.dataset.theme = next;
      }}>{theme === 'dark' ? '☾' : theme === 'light' ? '☀' : '◐'}</button>);
}

function Help({onClose}: {onClose: () => void}) {
  return (
    <Dialog title="Keyboard shortcuts and notifications" onClose={onClose}>
      <table>
        <tbody>{shortcuts.map(({keys, does}) => <tr key={keys}><th scope="row"><kbd>{keys}</kbd></th><td>{does}</td></tr>)}</tbody>
      </table>
      <label class="check">
        <input type="checkbox" checked={singleKeys.value} onChange={event => setSingleKeys(event.currentTarget.checked)} />
        Enable single-key shortcuts
      </label>
      <Notifications />
      <p><a href={`${base}start`} onClick={onClose}>Connect an agent or a browser</a></p>
      <p class="hint">{`Callslip ${me.value?.version ?? ''} · `}<a href={`${base}licenses.txt`} target="_blank">Third-party licenses</a></p>
      <div class="actions"><button type="button" class="primary" onClick={onClose}>Done</button></div>
    </Dialog>);
}

function Away({error, again}: {error: unknown; again: () => void}) {
  const {message, hint} = wordsOf(error);
  return (
    <main class="empty">
      <h1>{message}</h1>
      <p>{hint}</p>
      <button type="button" class="primary" onClick={again}>Retry</button>
    </main>);
}

// / focuses the filter, g and a letter open a page.
function useKeys(): void {
  useSingleKeys(event => {
    if (event.key !== '/') return;
    event.preventDefault();
    document.querySelector<HTMLInputElement>('[data-shortcut="/"]')?.focus();
  });
  useSingleKeys(({key}) => {
    const to = pages.find(({path}) => path.startsWith(key));
    if (to) go(`${base}${to.path}`);
  }, 'g');
}
