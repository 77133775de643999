import {signal} from '@preact/signals';
import {keep, stored} from './storage.ts';

// Single-key shortcuts can be turned off: voice control also enters letters (WCAG 2.1.4).
const name = 'callslip-keys';
export const singleKeys = signal(stored(name) !== 'off');

export function setSingleKeys(on: boolean): void {
  singleKeys.value = on;
  keep(name, on ? 'on' : 'off');
}

// Whether the page must ignore a key: the user is typing, or a dialog is open.
export function isTyping(event: KeyboardEvent): boolean {
  if (event.ctrlKey || event.metaKey || event.altKey || document.querySelector('dialog[open]')) return true;
  const {target} = event;
  return target instanceof HTMLElement && (target.isContentEditable || /^(INPUT|TEXTAREA|SELECT)$/.test(target.tagName));
}

export interface Shortcut {
  keys: string;
  does: string;
}
// The list shown in the help.
export const shortcuts: Shortcut[] = [
  {keys: '?', does: 'Show this help'}, {keys: '/', does: 'Filter the list'}, {keys: 'g o s c f w', does: 'g, then a letter: go to that page'},
  {keys: 'm', does: 'Write a message'}, {keys: 'Ctrl+Enter', does: 'Queue the message'},
  {keys: 'Ctrl+Shift+Enter', does: 'Send the message now'},
  {keys: 'y n', does: 'Allow or reject the first permission request, once'},
  {keys: 'j k', does: 'Next or previous item; on an item, also the arrow keys'},
  {keys: '[ ]', does: 'Previous or next prompt'}, {keys: 'Home, End G', does: 'Go to the first or the latest item'},
  {keys: 'f', does: 'Search the conversation, like Ctrl+F; Enter and Shift+Enter: next and previous; Escape: go back'},
  {keys: 'e E', does: 'Expand or collapse this item, or all items'}, {keys: 's', does: 'Stop the agent, after confirmation'},
  {keys: 'p', does: 'Pause or resume the queue'},
  {keys: 'Alt+Up, Alt+Down', does: 'Move a queued message'},
  {keys: 'x r', does: 'Cancel or replay the open command'},
  {keys: 'Space, Left, Right', does: 'Playback: play or pause, previous event, next event; with Shift, ten events'},
  {keys: ', .', does: 'Playback: slower, faster'},
];
