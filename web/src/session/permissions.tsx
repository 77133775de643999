import {canAct, canActNow, isAway} from '../api/http.ts';
import type {Json, Permission, PermissionOption} from '../api/types.ts';
import {Code} from '../ui/markdown.tsx';
import {useSingleKeys} from '../ui/keys.ts';
import type {SessionStore} from './store.ts';

// What the agent asks, over the box for messages: it covers nothing, and shows all of what is asked for.

const keyOf: Record<string, string> = {allow_once: 'y', allow_always: 'a', reject_once: 'n', reject_always: ''};

export function Permissions({store}: {store: SessionStore}) {
  const open = store.permissions.value;
  const [first, ...rest] = open;
  useSingleKeys(event => {
    // A key that is held answers one question, not the next one too.
    const option = event.repeat || !canActNow() ? undefined : first?.options.find(({kind}) => keyOf[kind] === event.key);
    if (!first || !option) return;
    event.preventDefault();
    void store.answer(first, option.option_id);
  });
  if (!first) return null;
  return (
    <section class="permissions" aria-label="Permissions">
      <Question key={first.permission_id} permission={first} store={store} isFirst />
      {rest.length > 0 && (
        <details>
          <summary>{`${rest.length} more ${rest.length === 1 ? 'question waits' : 'questions wait'}`}</summary>
          {rest.map(each => <Question key={each.permission_id} permission={each} store={store} />)}
        </details>)}
    </section>);
}

function Question({permission, store, isFirst = false}: {permission: Permission; store: SessionStore; isFirst?: boolean}) {
  return (
    <div role="group" aria-label="Permission" class="question" data-permission-id={permission.permission_id}>
      <h3>{permission.title}</h3>
      <Asked permission={permission} />
      {canAct() ? (
        <fieldset class="actions" disabled={isAway.value}>
          {permission.options.map(option => <Option key={option.option_id} option={option} isFirst={isFirst}
            pick={() => void store.answer(permission, option.option_id)} />)}
        </fieldset>) : <p class="hint">You may look, but not answer: your role is viewer.</p>}
    </div>);
}

function Option({option, isFirst, pick}: {option: PermissionOption; isFirst: boolean; pick: () => void}) {
  const key = keyOf[option.kind];
  // What holds for ever is not to be pressed in its place.
  return (
    <button type="button" class={option.kind === 'allow_once' ? 'primary' : ''} onClick={pick}
      aria-keyshortcuts={isFirst && key ? key : undefined}>
      {option.name || option.option_id}{isFirst && key ? <kbd aria-hidden="true">{key}</kbd> : null}
    </button>);
}

// All of it: what is not shown is not approved.
function Asked({permission}: {permission: Permission}) {
  const details = permission.details ?? {};
  const shown = details.rawInput ?? details.content;
  if (shown === undefined || shown === null) return null;
  return <Code text={commandOf(shown)} />;
}

function commandOf(value: Json): string {
  if (typeof value === 'string') return value;
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) {
    const {command, ...more} = value;
    if (typeof command === 'string' && Object.keys(more).length === 0) return command;
  }
  return JSON.stringify(value, null, 2);
}
