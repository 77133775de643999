import type {ComponentChildren} from 'preact';
import {canAct} from '../api/http.ts';

// A step with its state and its instructions, which are collapsed once it is done.
export function Step({title, isDone, state, how, children}:
{title: string; isDone: boolean; state: ComponentChildren; how?: ComponentChildren; children?: ComponentChildren}) {
  return (
    <li class={`step${isDone ? ' is-done' : ''}`}>
      <h2>{title}</h2>
      <div class="step-state" role="status">
        <span aria-hidden="true">{isDone ? '✔' : '○'}</span><span class="sr">{isDone ? 'Done: ' : 'To do: '}</span> {state}
      </div>
      {/* Viewers see only the state. */}
      {canAct() && how && (isDone ? <details><summary>Show instructions</summary>{how}</details> : how)}
      {children}
    </li>);
}
