import { keyStroke } from '../key_stroke.js';
import { TYPED_KEYS } from '../limits.js';
import { optionalBoolean, optionalNonEmptyText, requireText } from '../params.js';
import { leftOf, typed } from '../typing.js';
import { doneTo } from './click.js';

/** Types a text with the keys of its characters, into an element or into the focused element. */
export const type = {
  reported: true,

  check(params) {
    optionalNonEmptyText(params, 'selector');
    requireText(params, 'text');
    optionalBoolean(params, 'clear');
  },

  async run(setting) {
    const { tab, params, tools: { targets }, signal, endsAt } = setting;
    const { selector, clear = false } = params;
    const text = params.text.replace(/\r\n?/g, '\n');
    const need = { need: 'edit' };
    const target = selector
      ? await targets.find({ tab, selector, need, signal, endsAt })
      : await targets.focused({ tab });
    if (selector) await targets.act(tab, target, 'target.show');
    const args = [text, { strokes: strokesFor(text), clear, ...leftOf(setting) }];
    const { data, url } = await typed(setting, target, 'keys.type', args);
    const { said, ...holds } = data;
    return { url, data: { selector, ...holds, done: doneTo('typed into', said, target, selector) } };
  },
};

/** The key of each character of a text; null if there are too many to press them all. */
function strokesFor(text) {
  const characters = [...text];
  if (characters.length > TYPED_KEYS) return null;
  const stroke = (character) => {
    if (character === '\n') return keyStroke('Enter');
    return keyStroke(character);
  };
  return Object.fromEntries(characters.map((character) => [character, stroke(character)]));
}
