/** The files that install the hands in a frame, each after those that it uses. */
export const HANDS_FILES = [
  'focus', 'scrolling', 'hit_test', 'target', 'mouse', 'transfers', 'drag', 'values', 'editing',
  'key_choices', 'tab_order', 'key_defaults', 'clipboard', 'turns', 'held', 'keys', 'fields', 'text_range', 'wait',
].map((name) => `src/page/hands/${name}.js`);
