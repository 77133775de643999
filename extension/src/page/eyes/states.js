/* global callslip, callslipCutText, callslipSecretFields */
/** States and values of elements, in the words of the outline. */
callslip.states = (() => {
  const VALUE_CHARS = 120;

  /** The limit for a field that is requested by its ref. */
  const WHOLE_CHARS = 10_000;
  const OPTION_CHARS = 60;
  const CHOSEN = 20;
  const OPTIONS_ALL = 6;
  const OPTIONS_FIRST = 3;
  const CHECKED = new Set(['checkbox', 'radio', 'switch', 'menuitemcheckbox', 'menuitemradio', 'option',
    'treeitem']);
  const { isSecret } = callslipSecretFields;
  const { read } = callslip.reading;
  const { SPACE_CHARS } = callslip.bounds;

  const short = (text, chars = VALUE_CHARS) => {
    const line = callslip.names.clean(callslipCutText(text, chars + SPACE_CHARS));
    return line.length > chars ? `${callslipCutText(line, chars - 1)}…` : line;
  };

  /** True if neither mouse nor keys can change the element. */
  function isDisabled(element) {
    if (element.matches(':disabled')) return true;
    for (let at = element; at; at = at.getRootNode().host) {
      const said = at.closest('[aria-disabled]');
      if (said) return said.getAttribute('aria-disabled') === 'true';
    }
    return false;
  }

  function checked(element, role) {
    const native = element.localName === 'input' && ['checkbox', 'radio'].includes(element.type);
    if (native) return element.indeterminate ? 'mixed' : element.checked && 'checked';
    if (!CHECKED.has(role)) return false;
    const said = element.getAttribute('aria-checked');
    return said === 'mixed' ? 'mixed' : said === 'true' && 'checked';
  }

  function expanded(element) {
    if (element.localName === 'summary') {
      return element.parentElement.open ? 'expanded' : 'collapsed';
    }
    const said = element.getAttribute('aria-expanded');
    return { true: 'expanded', false: 'collapsed' }[said];
  }

  /** The states of an element as a list of words. */
  function of(element, role) {
    const said = (name) => element.getAttribute(`aria-${name}`);
    const isField = ['input', 'textarea', 'select'].includes(element.localName);
    const words = [
      isDisabled(element) && 'disabled',
      checked(element, role),
      expanded(element),
      (element.required || said('required') === 'true') && 'required',
      ((isField && element.readOnly) || said('readonly') === 'true') && 'readonly',
      (said('invalid') ?? 'false') !== 'false' && 'invalid',
      said('selected') === 'true' && 'selected',
      said('pressed') === 'true' ? 'pressed' : said('pressed') === 'mixed' && 'mixed',
      (said('current') ?? 'false') !== 'false' && 'current',
      ['video', 'audio'].includes(role) && (element.paused ? 'paused' : 'playing'),
    ];
    return words.filter(Boolean);
  }

  const optionText = ({ text, label }) => short(text || label, OPTION_CHARS).replaceAll(' | ', ' ¦ ');

  function optionsOf({ options }, all) {
    const { length } = options;
    const most = all ? WHOLE_CHARS / OPTION_CHARS : OPTIONS_FIRST;
    const count = length <= Math.max(most, OPTIONS_ALL) ? length : most;
    const shown = Array.from({ length: count }, (_, place) => optionText(options[place])).join(' | ');
    return length > count ? `${shown} | … ${length - count} more` : shown;
  }

  function chosenIn({ selectedOptions }) {
    const shown = [];
    for (const option of selectedOptions) {
      if (shown.length === CHOSEN) return `${shown.join(', ')} and ${selectedOptions.length - CHOSEN} more`;
      shown.push(optionText(option));
    }
    return shown.join(', ');
  }

  function ofSelect(element, all) {
    const chosen = isSecret(element) ? 'filled' : chosenIn(element);
    const isChosen = chosen !== '' || element.selectedOptions.length > 0;
    return `${isChosen ? ` = ${chosen}` : ''} of ${optionsOf(element, all)}`;
  }

  function range(element) {
    const text = element.getAttribute('aria-valuetext');
    if (text) return ` = ${short(text)}`;
    const now = element.getAttribute('aria-valuenow') ?? element.value ?? '';
    const least = element.getAttribute('aria-valuemin') ?? element.getAttribute('min');
    const most = element.getAttribute('aria-valuemax') ?? element.getAttribute('max');
    const isRange = element.type === 'range' || (least && most);
    const within = isRange ? ` of ${short(least || '0')}–${short(most || '100')}` : '';
    return `${now === '' ? '' : ` = ${short(String(now))}`}${within}`;
  }

  /** The text in an element that is not a form field; empty for a combobox that only opens a list. */
  function textIn(element, role) {
    const isList = role === 'combobox' && !callslip.roles.isEditable(element);
    if (isList) return '';
    const { text, whole } = read(element, WHOLE_CHARS);
    return whole ? element.innerText ?? '' : text;
  }

  /** The text after the name: ` = value`, ` placeholder …`, or empty. */
  function valueOf(element, role, name, all) {
    if (element.localName === 'select') return ofSelect(element, all);
    if (['slider', 'spinbutton', 'progressbar', 'meter', 'scrollbar'].includes(role)) {
      return isSecret(element) ? filled(element.value) : range(element);
    }
    const isInput = ['input', 'textarea'].includes(element.localName);
    if (role === 'file') {
      const files = [...(element.files ?? [])].map((file) => file.name).join(', ');
      return files ? ` = ${short(files)}` : '';
    }
    if (isInput && ['button', 'checkbox', 'radio', 'switch'].includes(role)) return '';
    if (!isInput && !['textbox', 'searchbox', 'combobox'].includes(role)) return '';
    const value = isInput ? element.value : textIn(element, role);
    if (isSecret(element)) return filled(value);
    const text = short(value, all ? WHOLE_CHARS : VALUE_CHARS);
    if (text) return text === name && !isInput ? '' : ` = ${text}`;
    const said = element.getAttribute('placeholder') ?? element.getAttribute('aria-placeholder');
    const placeholder = short(said ?? '');
    return placeholder && placeholder !== name ? ` placeholder ${placeholder}` : '';
  }

  const filled = (value) => (value ? ' = filled' : '');

  return { of, valueOf, isSecret, isDisabled };
})();
