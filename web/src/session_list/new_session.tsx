import {signal} from '@preact/signals';
import {useEffect, useState} from 'preact/hooks';
import {ApiError, get, isAway, newId, post} from '../api/http.ts';
import type {AgentOffer, Session, Workspace} from '../api/types.ts';
import {go, sessionPath} from '../router.ts';
import {draftOf} from '../conversation/draft.ts';
import {Dialog} from '../ui/dialog.tsx';
import {Failure} from '../ui/failure.tsx';

// The input of the form, kept until the session is created.
const nothing = {agent: '', folder: '', name: ''};
const form = signal(nothing);
// The last attempt: a retry with the same input uses the same id, so that it creates no second session.
let tried = {of: '', id: ''};

async function makeSession(): Promise<Session> {
  const {agent, folder, name} = form.peek();
  const wanted = {name: name.trim(), acp_server: agent, working_dir: folder};
  const of = JSON.stringify(wanted);
  if (tried.of !== of) tried = {of, id: newId()};
  try {
    return await post<Session>('/sessions', {session_id: tried.id, ...wanted});
  } catch (failure) {
    if (!(failure instanceof ApiError) || failure.code !== 'session_exists') throw failure;
    return get<Session>(`/sessions/${tried.id}`);
  }
}

// Creates a session with an agent that a runner offers, in a folder where the agent can work.
export function NewSession({onClose}: {onClose: () => void}) {
  const [agents, setAgents] = useState<AgentOffer[] | null>(null);
  const [workspaces, setWorkspaces] = useState<Workspace[]>([]);
  const [error, setError] = useState<unknown>(null);
  const [isBusy, setBusy] = useState(false);
  const {agent, folder, name} = form.value;
  const choose = (chosen: Partial<typeof nothing>) => { form.value = {...form.peek(), ...chosen}; };
  const message = draftOf('');
  useEffect(() => {
    void Promise.all([get<{agents: AgentOffer[]}>('/agents'), get<{workspaces: Workspace[]}>('/workspaces')]).then(
      ([offered, places]) => {
        setAgents(offered.agents);
        setWorkspaces(places.workspaces);
        const before = form.peek();
        const isThere = offered.agents.some(each => each.name === before.agent);
        choose({agent: isThere ? before.agent : offered.agents.find(({problem}) => !problem)?.name ?? '',
          folder: before.folder || (places.workspaces[0]?.dir ?? '')});
      }, setError);
  }, []);
  const make = async () => {
    if (isBusy) return;
    setBusy(true);
    setError(null);
    const first = message.written.peek().text;
    try {
      const session = await makeSession();
      // The first message is sent from the session's draft; text written since then stays there.
      const draft = draftOf(session.session_id);
      if (first.trim()) {
        draft.write(first);
        void draft.send(false, sent => post(`/sessions/${encodeURIComponent(session.session_id)}/queue`, sent));
      }
      draft.write(message.written.peek().text);
      message.write('');
      form.value = nothing;
      tried = {of: '', id: ''};
      onClose();
      go(sessionPath(session.session_id));
    } catch (failure) {
      setError(failure);
      setBusy(false);
    }
  };
  const fitting = workspaces.filter(each => !each.agents?.length || each.agents.includes(agent));
  const problem = agents?.find(each => each.name === agent)?.problem;
  return (
    <Dialog title="New session" onClose={onClose}>
      <form onSubmit={event => { event.preventDefault(); void make(); }}>
        {error !== null && <Failure error={error} />}
        {agents?.length === 0 && (
          <p class="hint">No runner is connected, so no agent can be started. Start <code>callslip-runner</code>, or create the
            session for an agent that records its own.</p>)}
        {agents && agents.length > 0 && (
          <label>Agent
            <select value={agent} disabled={isBusy} onChange={event => choose({agent: event.currentTarget.value})}>
              {agents.map(each => <option key={each.name} value={each.name}>{each.title || each.name}</option>)}
            </select>
          </label>)}
        {problem && <p class="hint">{problem}</p>}
        {workspaces.length > 0 && (
          <label>Folder
            <input list="workspaces" value={folder} disabled={isBusy} onInput={event => choose({folder: event.currentTarget.value})} />
            <datalist id="workspaces">{fitting.map(({name: title, dir}) => <option key={title} value={dir}>{title}</option>)}</datalist>
          </label>)}
        <label>Name
          <input value={name} maxLength={256} disabled={isBusy} placeholder="Default: the agent's title"
            onInput={event => choose({name: event.currentTarget.value})} />
        </label>
        <label>First message
          <textarea rows={4} value={message.written.value.text} onInput={event => message.write(event.currentTarget.value)} />
        </label>
        <div class="actions">
          <button type="button" onClick={onClose}>Cancel</button>
          <button type="submit" class="primary" disabled={isBusy || isAway.value}>Create</button>
        </div>
      </form>
    </Dialog>);
}
