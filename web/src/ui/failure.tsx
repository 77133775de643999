import {signal} from '@preact/signals';
import {Component, type ComponentChildren} from 'preact';
import {wordsOf} from '../api/http.ts';
import {announce} from './announce.ts';

// What went wrong and what to do about it, where it was tried.
export function Failure({error, children}: {error: unknown; children?: ComponentChildren}) {
  const {message, hint} = wordsOf(error);
  return (
    <div class="failure" role="alert">
      <strong>{message}</strong>
      {hint && <span class="hint">{hint}</span>}
      {children}
    </div>);
}

// The last thing that could not be done, for what has no place of its own.
export const refusal = signal<unknown>(null);
let until = 0;

export function refuse(error: unknown): void {
  refusal.value = error;
  announce(wordsOf(error).message);
  clearTimeout(until);
  until = window.setTimeout(() => { refusal.value = null; }, 10_000);
}

export function Refusal() {
  if (refusal.value === null) return null;
  return (
    <div class="toast">
      <Failure error={refusal.value}>
        <button type="button" class="quiet" onClick={() => { refusal.value = null; }}>Close</button>
      </Failure>
    </div>);
}

// Does it, and says why not.
export async function attempt<T>(what: () => Promise<T>): Promise<T | undefined> {
  try {
    return await what();
  } catch (error) {
    refuse(error);
    return undefined;
  }
}

// Keeps what is around it alive where drawing something has failed.
export class Boundary extends Component<{what: string; children: ComponentChildren}, {error: unknown}> {
  override state = {error: null as unknown};
  override componentDidCatch(error: unknown) {
    console.error(error);
    this.setState({error});
  }
  override componentDidUpdate(before: {what: string}) {
    if (before.what !== this.props.what && this.state.error !== null) this.setState({error: null});
  }
  override render() {
    if (this.state.error === null) return this.props.children;
    return (
      <div class="failure" role="alert">
        <strong>{this.props.what} could not be shown.</strong>
        <span class="hint">{wordsOf(this.state.error).message}</span>
        <button type="button" onClick={() => this.setState({error: null})}>Try again</button>
      </div>);
  }
}
