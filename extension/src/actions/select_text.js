import { CommandError } from '../errors.js';
import { ELEMENT_TEXT_CHARS, SELECTION_NOTICED_MS } from '../limits.js';
import { isGiven, optionalNonEmptyText, requireAnyOf } from '../params.js';
import { cutText } from '../text.js';
import { pause } from '../waiting.js';

/** Selects a text of the page or of an element, or the whole content of an element. */
export const selectText = {
  reported: true,

  check(params) {
    requireAnyOf(params, ['selector', 'text']);
    optionalNonEmptyText(params, 'selector');
    optionalNonEmptyText(params, 'text');
  },

  async run({ tab, params, tools: { pageParts, targets }, signal, endsAt }) {
    const { selector } = params;
    const text = params.text ?? null;
    const target = isGiven(params, 'selector')
      ? await targets.find({ tab, selector, need: { need: 'see' }, signal, endsAt })
      : await frameWith(tab, text, pageParts);
    const { data, url } = await targets.act(tab, target, 'textRange.select', [text]);
    await pause(SELECTION_NOTICED_MS, signal);
    const shown = data.text === undefined ? 'all' : JSON.stringify(cutText(data.text, ELEMENT_TEXT_CHARS));
    const where = isGiven(params, 'selector') ? ` in ${data.said}` : '';
    return { url, data: { done: `selected ${shown}${where}` } };
  },
};

async function frameWith(tab, text, pageParts) {
  const answers = await pageParts.callAll(tab.id, 'textRange.find', [text]);
  const [top] = answers;
  if (top?.error?.code === 'pdf_viewer') throw new CommandError({ ...top.error, url: top.url });
  const found = answers.find(({ result }) => result);
  if (found) return { frameId: found.frameId, documentId: found.documentId, key: found.result };
  throw new CommandError({
    code: 'element_not_found',
    message: `The page does not contain the text ${JSON.stringify(cutText(text, ELEMENT_TEXT_CHARS))}.`,
    hint: 'It must be there as it is shown; in a field, name it with selector.',
    mayHaveExecuted: false,
    url: tab.url,
  });
}
