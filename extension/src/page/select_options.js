/* global callslipElements */
/**
 * Runs in the page. Chooses exactly the options that are wanted: `{values}` by their values, or
 * `{label}` by what a reader sees.
 */
export function selectOptions(selector, wanted, namedOptions) {
  const url = location.href;
  const { failed, find, intoView } = callslipElements;
  const { element, refusal } = find(selector);
  if (refusal) return refusal;
  if (!(element instanceof HTMLSelectElement)) {
    return failed('invalid_params', 'selector: must match a select element');
  }
  if (element.matches(':disabled')) {
    return failed('execution_failed', `The element ${selector} is disabled.`);
  }
  const asked = wanted.values ?? [wanted.label.trim()];
  if (asked.length > 1 && !element.multiple) {
    return failed('invalid_params', 'values: may name one option, as the element takes one');
  }

  const options = [...element.options];
  const nameOf = (option) => (wanted.values ? option.value : option.label.trim());
  const chosen = [];
  for (const name of asked) {
    const option = options.find((each) => nameOf(each) === name && !each.disabled);
    if (!option) {
      const names = options.slice(0, namedOptions).map((each) => JSON.stringify(nameOf(each)));
      const more = options.length > namedOptions ? ', …' : '';
      const hint = `There are: ${names.join(', ')}${more}. A disabled option cannot be chosen.`;
      return failed('option_not_found', `No option of ${selector} is named ${name}.`, hint);
    }
    chosen.push(option);
  }

  intoView(element);
  element.focus({ preventScroll: true });
  for (const option of options) option.selected = chosen.includes(option);
  element.dispatchEvent(new Event('input', { bubbles: true, composed: true }));
  element.dispatchEvent(new Event('change', { bubbles: true }));
  const values = [...element.selectedOptions].map(({ value }) => value);
  return { url, data: { selector, values } };
}
