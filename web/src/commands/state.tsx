// What each view of a command shows: its state and its link.
import {markOf, stateOf, type Command} from './model.ts';

export const commandPath = (id: string): string => `/ui/commands/${encodeURIComponent(id)}${location.search}`;

export function State({command}: {command: Command}) {
  return (
    <span class={`state is-${command.status}`}>
      <span aria-hidden="true">{markOf(command)}</span>{' '}
      {command.status === 'error' && command.error ? command.error : stateOf(command)}
    </span>);
}
