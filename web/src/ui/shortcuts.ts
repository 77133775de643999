import {signal} from '@preact/signals';
import {keep, stored} from './storage.ts';

// Single keys that do something can be switched off: a voice control says letters, too (WCAG 2.1.4).
const name = 'callslip-keys';
export const singleKeys = signal(stored(name) !== 'off');

export function setSingleKeys(on: boolean): void {
  singleKeys.value = on;
  keep(name, on ? 'on' : 'off');
}

// Whether a key is none of the page's: it is written, or there is a dialog over what it would act on.
export function isTyping(event: KeyboardEvent): boolean {
  if (event.ctrlKey || event.metaKey || event.altKey || document.querySelector('dialog[open]')) return true;
  const {target} = event;
  return target instanceof HTMLElement && (target.isContentEditable || /^(INPUT|TEXTAREA|SELECT)$/.test(target.tagName));
}

export interface Shortcut {
  keys: string;
  does: string;
}
// As the help shows them.
export const shortcuts: Shortcut[] = [
  {keys: '?', does: 'Show this'}, {keys: '/', does: 'Filter the list'}, {keys: 'g o s c f w', does: 'g, then the letter of a page: go there'},
  {keys: 'm', does: 'Write a message'}, {keys: 'Ctrl+Enter', does: 'Queue the message'},
  {keys: 'Ctrl+Shift+Enter', does: 'Send the message now'},
  {keys: 'y n', does: 'Allow once, reject what is asked first, once it is read'},
  {keys: 'j k', does: 'Next and previous part; on a part, the arrows do the same'},
  {keys: '[ ]', does: 'Previous and next prompt'}, {keys: 'Home, End G', does: 'To the first, to the latest'},
  {keys: 'f', does: 'Search the conversation, as Ctrl+F; Enter and Shift+Enter go on, Escape goes back'},
  {keys: 'e E', does: 'Open or close this part, all parts'}, {keys: 's', does: 'Stop the agent, after asking'},
  {keys: 'p', does: 'Pause or resume the queue'},
  {keys: 'Alt+Up, Alt+Down', does: 'Move a message of the queue'},
  {keys: 'x r', does: 'Cancel, replay the command that is open'},
  {keys: 'Space, Left, Right', does: 'Play, previous and next event of a recording; ten with Shift'},
  {keys: ', .', does: 'Slower, faster'},
];
