import {signal} from '@preact/signals';
import {Component, type ComponentChildren} from 'preact';
import {wordsOf} from '../api/http.ts';
import {announce} from './announce.ts';

// An error and what to do about it, shown where the action was tried.
export function Failure({error, children}: {error: unknown; children?: ComponentChildren}) {
  const {message, hint} = wordsOf(error);
  return (
    <div class="failure" role="alert">
      <strong>{message}</strong>
      {hint && <span class="hint">{hint}</span>}
      {children}
    </div>);
}

// The last failed action, for actions without a place for their errors.
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

// Runs an action, and shows its error.
export async function attempt<T>(what: () => Promise<T>): Promise<T | undefined> {
  try {
    return await what();
  } catch (error) {
    refuse(error);
    return undefined;
  }
}

interface BoundaryProps {
  // Name of the content, shown if there is no other way to show it.
  what?: string;
  // The content as text, and its data: when `of` changes, rendering is tried again.
  plain?: () => string;
  of?: unknown;
  children: ComponentChildren;
}

// Keeps the surrounding page working if rendering the content fails.
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
      // Showing it as text fails, too.
    }
    return (
      <div class="failure" role="alert">
        <strong>{what} could not be displayed.</strong>
        <span class="hint">{wordsOf(this.state.error).message}</span>
        <button type="button" onClick={() => this.setState({error: null})}>Retry</button>
      </div>);
  }
}
