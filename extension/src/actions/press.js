import { keyStrokes } from '../key_stroke.js';
import { CLIPBOARD_CHARS } from '../limits.js';
import { optionalNonEmptyText, requireNonEmptyText } from '../params.js';
import { carryTab } from '../tab_key.js';
import { leftOf, typed } from '../typing.js';

/** Presses keys, alone or with modifiers, on an element or on the focused element. */
export const press = {
  reported: true,

  check(params) {
    requireNonEmptyText({ key: params.key === ' ' ? 'Space' : params.key }, 'key');
    optionalNonEmptyText(params, 'selector');
    keyStrokes(params.key);
  },

  async run(setting) {
    const { tab, params: { key, selector }, tools: { targets }, signal, endsAt } = setting;
    const need = { need: 'keys' };
    const target = selector
      ? await targets.find({ tab, selector, need, signal, endsAt })
      : await targets.focused({ tab });
    if (selector) await targets.act(tab, target, 'target.show');
    const { url, notes } = await pressAll(setting, target, keyStrokes(key));
    const on = target.said ? ` on ${target.said}` : '';
    return { url, data: { key, done: [`pressed ${key}${on}`, ...notes].join('; ') } };
  },
};

/**
 * Presses the keys in parts: what one of them copies has to be stored before the next, and after one that
 * moves the focus into another frame, the next goes there.
 */
async function pressAll(setting, target, strokes) {
  const { caller, tools: { clipboards }, signal } = setting;
  const notes = new Set();
  let place = target;
  let url;
  for (let before = 0; before < strokes.length && !signal.aborted;) {
    const left = strokes.slice(before);
    const clipboard = left.some((each) => each.clipboard === 'paste') ? await clipboards.read(caller) : {};
    const options = { ...leftOf(setting), before, clipboard, clipboardChars: CLIPBOARD_CHARS };
    const answer = await typed(setting, place, 'keys.press', [left, options]);
    ({ url } = answer);
    const { pressed, copied, note, leaves } = answer.data;
    if (copied) await clipboards.write(caller, copied);
    if (note) notes.add(note);
    before += pressed;
    place = leaves ? await carryTab(setting, place, leaves, strokes[before - 1]) : { ...place, key: null };
  }
  return { url, notes };
}
