import {useEffect, useState} from 'preact/hooks';
import {get, isAway, post} from '../api/http.ts';
import type {AgentOffer, Session, Workspace} from '../api/types.ts';
import {go, sessionPath} from '../router.ts';
import {Dialog} from '../ui/dialog.tsx';
import {Failure} from '../ui/failure.tsx';

// A session with an agent that some runner has, in a folder where that may work.
export function NewSession({onClose}: {onClose: () => void}) {
  const [agents, setAgents] = useState<AgentOffer[] | null>(null);
  const [workspaces, setWorkspaces] = useState<Workspace[]>([]);
  const [agent, setAgent] = useState('');
  const [folder, setFolder] = useState('');
  const [name, setName] = useState('');
  const [message, setMessage] = useState('');
  const [error, setError] = useState<unknown>(null);
  const [isBusy, setBusy] = useState(false);
  useEffect(() => {
    void Promise.all([get<{agents: AgentOffer[]}>('/agents'), get<{workspaces: Workspace[]}>('/workspaces')]).then(
      ([offered, places]) => {
        setAgents(offered.agents);
        setWorkspaces(places.workspaces);
        setAgent(offered.agents.find(({problem}) => !problem)?.name ?? '');
        setFolder(places.workspaces[0]?.dir ?? '');
      }, setError);
  }, []);
  const make = async () => {
    if (isBusy) return;
    setBusy(true);
    setError(null);
    try {
      const session = await post<Session>('/sessions', {name: name.trim(), acp_server: agent, working_dir: folder});
      if (message.trim()) await post(`/sessions/${encodeURIComponent(session.session_id)}/queue`, {message});
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
          <p class="hint">No runner is connected, so no agent will be started: start <code>callslip-runner</code>, or begin the
            session for an agent that records itself.</p>)}
        {agents && agents.length > 0 && (
          <label>Agent
            <select value={agent} onChange={event => setAgent(event.currentTarget.value)}>
              {agents.map(each => <option key={each.name} value={each.name}>{each.title || each.name}</option>)}
            </select>
          </label>)}
        {problem && <p class="hint">{problem}</p>}
        {workspaces.length > 0 && (
          <label>Folder
            <input list="workspaces" value={folder} onInput={event => setFolder(event.currentTarget.value)} />
            <datalist id="workspaces">{fitting.map(({name: title, dir}) => <option key={title} value={dir}>{title}</option>)}</datalist>
          </label>)}
        <label>Name
          <input value={name} maxLength={256} placeholder="The agent's own title, unless you give one"
            onInput={event => setName(event.currentTarget.value)} />
        </label>
        <label>First message
          <textarea rows={4} value={message} onInput={event => setMessage(event.currentTarget.value)} />
        </label>
        <div class="actions">
          <button type="button" onClick={onClose}>Cancel</button>
          <button type="submit" class="primary" disabled={isBusy || isAway.value}>Begin</button>
        </div>
      </form>
    </Dialog>);
}
