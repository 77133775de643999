// The page /ui/start: from the installation to the first answer. New users are redirected to it from /ui/.
import {useState} from 'preact/hooks';
import {canAct, me} from '../api/http.ts';
import type {AgentOffer} from '../api/types.ts';
import type {Worker} from '../commands/targets.ts';
import {base, go} from '../router.ts';
import {draftOf} from '../conversation/draft.ts';
import {NewSession} from '../session_list/new_session.tsx';
import {listed, listError, sessions} from '../session_list/store.ts';
import {Copy} from '../ui/copy.tsx';
import {Boundary, Failure} from '../ui/failure.tsx';
import {usePolled} from '../ui/poll.ts';
import {keep, stored} from '../ui/storage.ts';
import {visible} from '../ui/visible.ts';
import {agentGuides} from './agents.ts';
import {browsersOf, tabsOf, type McpClient} from './progress.ts';
import {Step} from './step.tsx';
import {Trial} from './trial.tsx';

const doneName = 'callslip-started';
const everyMs = () => 1_000;
const agentsEveryMs = () => 10_000;

// Whether /ui/ redirects here: the steps were not finished in this browser, and there are no sessions. Null while
// unknown.
export function isFirstVisit(): boolean | null {
  if (stored(doneName) !== null || listError.value !== null) return false;
  return listed.value ? sessions.value.size === 0 : null;
}

const setDone = () => keep(doneName, 'yes');

function finish(): void {
  setDone();
  go(`${base}sessions`);
}

export function StartPage() {
  const clients = usePolled<{mcp_clients: McpClient[]}>('/mcp-clients', everyMs);
  const workers = usePolled<{workers: Worker[]}>('/workers?limit=1000', everyMs);
  const found = clients.value?.mcp_clients ?? [];
  const browsers = browsersOf(workers.value?.workers ?? []);
  const error = clients.error ?? workers.error;
  return (
    <div class="start page">
      <header class="page-head"><h1>Get started</h1></header>
      <p>Three steps to the first result from a browser.</p>
      {error !== null && <Failure error={error} />}
      <ol class="steps">
        <Step title="Connect an agent" isDone={found.length > 0}
          state={found.length > 0 ? <Clients clients={found} /> : 'No agent has connected yet.'} how={<ConnectAgent />} />
        <Step title="Connect a browser" isDone={browsers.length > 0}
          state={browsers.length > 0 ? <Browsers browsers={browsers} /> : 'No browser is connected.'} how={<ConnectBrowser />} />
        <Boundary what="This step">
          <Trial tabs={tabsOf(workers.value?.workers ?? [], location.origin)} hasBrowser={browsers.length > 0} onDone={setDone} />
        </Boundary>
      </ol>
      <Boundary what="The agent list"><BeginSession /></Boundary>
      <p><button type="button" onClick={finish}>Go to sessions</button> <span class="muted">This page stays available under Help.</span></p>
    </div>);
}

// Maximum number of names shown.
const maxNamed = 5;

function Clients({clients}: {clients: McpClient[]}) {
  const rest = clients.length - maxNamed;
  return (
    <>
      {clients.slice(0, maxNamed).map(({name, client}) =>
        <b key={`${client} ${name}`} class="named">{visible(name) || 'Unnamed agent'}</b>)}
      {rest > 0 && <span class="named">{rest} more</span>}
    </>);
}

function Browsers({browsers}: {browsers: Worker[]}) {
  return (
    <>
      {browsers.slice(0, maxNamed).map(({worker, target, name, tabs, browser, paused}) => {
        const tab = tabs?.find(each => each.active) ?? tabs?.[0];
        return (
          <span key={`${target} ${worker}`} class="named"><b>{visible(name || browser || worker)}</b>
            {[name && browser, paused ? 'paused by user' : '', tab && `showing “${tab.title || tab.url}”`].filter(Boolean).map(each => ` · ${visible(each!)}`)}
          </span>);
      })}
    </>);
}

function ConnectAgent() {
  const [id, setId] = useState(agentGuides[0]!.id);
  const guide = agentGuides.find(each => each.id === id)!;
  const tokens = me.value?.tokens ?? false;
  const text = guide.text({origin: location.origin, tokens});
  return (
    <>
      <fieldset class="tabs">
        <legend class="sr">Agent</legend>
        {agentGuides.map(each => (
          <label key={each.id}>
            <input type="radio" name="agent" checked={each.id === id} onChange={() => setId(each.id)} />{each.name}
          </label>))}
      </fieldset>
      <p class="hint">{guide.where}</p>
      <Snippet text={text} label="Copy" />
      {tokens && (
        <p class="hint">Replace TOKEN with the token of a <code>client</code> line in the gateway’s token file. See
          {' '}<code>callslip-gateway token list</code>, or add a line with <code>token add</code>.</p>)}
    </>);
}

const Snippet = ({text, label}: {text: string; label: string}) =>
  <div class="snippet"><pre tabIndex={0} aria-label="Text to copy">{text}</pre><Copy text={text} label={label} /></div>;

// The extension offers pairing only to pages of its own machine.
const isHere = /^(localhost|127(\.\d+){3}|\[::1\])$/.test(location.hostname);

function ConnectBrowser() {
  const tokens = me.value?.tokens ?? false;
  // A folder of the gateway's machine: of use where the browser is on it, too.
  const folder = isHere ? me.value?.extension_dir : undefined;
  return (
    <ol class="how">
      <li>Open <code>chrome://extensions</code>, turn on <b>Developer mode</b>, choose <b>Load unpacked</b>, and select the extension folder:
        {folder ? <Snippet text={folder} label="Copy folder" /> : (
          <ul>
            <li><code>extension/</code> in the source tree,</li>
            <li><code>/usr/share/callslip/extension</code> from the Debian package, or</li>
            <li>the path printed by <code>npx callslip extension-path</code>.</li>
          </ul>)}
      </li>
      <li>{isHere
        ? <>With this page in the active tab, click the extension’s icon, then <b>Pair with {location.host}</b>.</>
        : <>Click the extension’s icon, then <b>Pair with a gateway</b>, and enter the address below.</>}
        {tokens && <> Use the token of a <code>worker</code> line in the gateway’s token file.</>}
      </li>
      <li>If this page is not open in that browser, enter the gateway’s address:
        <Snippet text={location.origin} label="Copy address" />
      </li>
    </ol>);
}

// The suggested first message to an agent in a session.
const firstMessage = 'What is in this folder, and what would you do first?';

function BeginSession() {
  const offers = usePolled<{agents: AgentOffer[]}>('/agents', agentsEveryMs);
  const [isMaking, setMaking] = useState(false);
  const ready = (offers.value?.agents ?? []).filter(({problem}) => !problem);
  if (ready.length === 0 || !canAct()) return null;
  const begin = () => {
    const draft = draftOf('');
    if (!draft.written.peek().text) draft.write(firstMessage);
    setMaking(true);
  };
  return (
    <section class="agents-here">
      <h2>Agents started by a runner</h2>
      <p>A runner can start {ready.slice(0, maxNamed).map(({name, title}) => title || name).join(', ')}{ready.length > maxNamed && ' and more'}.
        {' '}Send it instructions here and follow its work.</p>
      <button type="button" onClick={begin}>Start a session</button>
      {isMaking && <NewSession onClose={() => setMaking(false)} />}
    </section>);
}
