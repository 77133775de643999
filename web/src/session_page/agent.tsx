import {useState} from 'preact/hooks';
import {isAway, post} from '../api/http.ts';
import type {ConfigOption, ConfigValue, Session} from '../api/types.ts';
import {Dialog} from '../ui/dialog.tsx';
import {attempt, Boundary} from '../ui/failure.tsx';
import {visible} from '../ui/visible.ts';
import type {SessionStore} from './store.ts';

// The dialog of the agent: starting and stopping it, its modes and its settings.
export function AgentControls({store, session}: {store: SessionStore; session: Session}) {
  const [isOpen, open] = useState(false);
  if (!session.acp_server) return null;
  return (
    <>
      <button type="button" class="quiet" onClick={() => open(true)}>Agent</button>
      {isOpen && <Boundary what="The agent dialog"><AgentDialog store={store} session={session} onClose={() => open(false)} /></Boundary>}
    </>);
}

const actions = [
  {id: 'start', name: 'Start', says: 'Starts the agent, even after it has failed.'},
  {id: 'stop', name: 'Stop', says: 'Ends the agent process. The next message starts it again.'},
  {id: 'restart', name: 'Restart', says: 'Restarts the agent process with its previous context.'},
  {id: 'fresh', name: 'Start fresh', says: 'Starts the agent without its previous context.'},
];

function AgentDialog({store, session, onClose}: {store: SessionStore; session: Session; onClose: () => void}) {
  const {agent} = session;
  const details = agent?.details ?? {};
  const set = (body: unknown) => void attempt(() => post(store.path('/config'), body));
  const modes = details.modes?.availableModes ?? [];
  return (
    <Dialog title={`Agent: ${session.acp_server}`} onClose={onClose}>
      <p class="hint">
        {[details.agent_info?.name, details.agent_info?.version, agent?.status, agent?.runner_id && `runner ${agent.runner_id}`]
          .filter(Boolean).join(' · ')}
      </p>
      {agent?.message && <p>{visible(agent.message)}</p>}
      <fieldset disabled={isAway.value}>
        {modes.length > 0 && (
          <label>Mode
            <select value={details.modes?.currentModeId ?? ''} onChange={event => set({mode_id: event.currentTarget.value})}>
              {modes.map(({id, name}) => <option key={id} value={id}>{visible(name)}</option>)}
            </select>
          </label>)}
        {(details.config_options ?? []).map(option => <Setting key={option.id} option={option} set={set} />)}
        <dl class="choices">
          {actions.map(({id, name, says}) => (
            <div key={id}>
              <dt><button type="button" onClick={() => void attempt(() => post(store.path('/agent'), {action: id}))}>{name}</button></dt>
              <dd>{says}</dd>
            </div>))}
        </dl>
      </fieldset>
      <div class="actions"><button type="button" class="primary" onClick={onClose}>Done</button></div>
    </Dialog>);
}

// Flattens groups of values to one list.
const flat = (values: ConfigValue[]): ConfigValue[] => values.flatMap(each => (each.options ? flat(each.options) : [each]));

function Setting({option, set}: {option: ConfigOption; set: (body: unknown) => void}) {
  const change = (value: string) => set({option_id: option.id, value});
  const name = visible(option.name ?? option.id);
  if (typeof option.currentValue === 'boolean') {
    return (
      <label class="check">
        <input type="checkbox" checked={option.currentValue} onChange={event => change(String(event.currentTarget.checked))} />
        {name}
      </label>);
  }
  return (
    <label>{name}
      <select value={String(option.currentValue ?? '')} onChange={event => change(event.currentTarget.value)}>
        {flat(option.options ?? []).map(each => <option key={each.value} value={each.value}>{visible(each.name ?? each.value ?? '')}</option>)}
      </select>
    </label>);
}
