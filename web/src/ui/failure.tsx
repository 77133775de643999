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

interface BoundaryProps {
  // What it is, where there is no other way to show it.
  what?: string;
  // The same as text, and what it is made of: where that is another one, it is tried again.
  plain?: () => string;
  of?: unknown;
  children: ComponentChildren;
}

// Keeps what is around it alive where drawing something has failed.
export class Boundary extends Component<BoundaryProps, {error: unknown}> {
  override state = {error: null as unknown};
  override componentDidCatch(error: unknown) {
    console.error(error);
    this.setState({error});
  }
  override componentDidUpdate({what, of}: BoundaryProps) {
    if ((what !== this.props.what || of !== this.props.of) && this.state.error !== null) this.setState({error: null});
  }
  override render() {
    const {what = 'This', plain, children} = this.props;
    if (this.state.error === null) return children;
    try {
      if (plain) return <pre class="plain" tabIndex={0}>{plain()}</pre>;
    } catch {
      // As text it is too much, too.
    }
    return (
      <div class="failure" role="alert">
        <strong>{what} could not be displayed.</strong>
        <span class="hint">{wordsOf(this.state.error).message}</span>
        <button type="button" onClick={() => this.setState({error: null})}>Retry</button>
      </div>);
  }
}
