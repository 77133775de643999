import {signal} from '@preact/signals';

// Announcements for screen readers, in addition to the visible text: the end of a turn, a question, a lost or restored
// connection. Never streaming text.
export const announced = signal('');

export function announce(text: string): void {
  // Makes the text different, so that repeated words are announced again.
  announced.value = announced.value === text ? `${text}\u00a0` : text;
}
