import {signal} from '@preact/signals';

// What a screen reader is told, beside what somebody reads: a turn's end, a question, a connection
// that is lost or back. Never what streams in.
export const announced = signal('');

export function announce(text: string): void {
  // The same words twice are told twice.
  announced.value = announced.value === text ? `${text}\u00a0` : text;
}
