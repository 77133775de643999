/* global callslipElements */
/**
 * Runs in the page, but apart from its scripts: the value setter used here is the browser's own,
 * so a framework that replaced it on the element still notices the change when the events come.
 */
export function typeText(selector, text, clear) {
  const url = location.href;
  const { failed, find, intoView, isSecret } = callslipElements;
  const textTypes = ['text', 'search', 'url', 'tel', 'email', 'password', 'number', 'date',
    'datetime-local', 'month', 'time', 'week', 'color', 'range'];

  const { element, refusal } = find(selector);
  if (refusal) return refusal;
  const isInput = element instanceof HTMLInputElement && textTypes.includes(element.type);
  const isField = isInput || element instanceof HTMLTextAreaElement;
  if (!isField && !element.isContentEditable) {
    const message = 'selector: must match a text field, a textarea or an editable element';
    return failed('invalid_params', message);
  }
  if (isField && (element.matches(':disabled') || element.readOnly)) {
    return failed('execution_failed', `The element ${selector} cannot be edited.`);
  }

  intoView(element);
  element.focus({ preventScroll: true });
  if (isField) {
    const prototype = isInput ? HTMLInputElement.prototype : HTMLTextAreaElement.prototype;
    const { set } = Object.getOwnPropertyDescriptor(prototype, 'value');
    set.call(element, clear ? text : element.value + text);
    const typed = { bubbles: true, composed: true, inputType: 'insertText', data: text };
    element.dispatchEvent(new InputEvent('input', typed));
    element.dispatchEvent(new Event('change', { bubbles: true }));
    // The browser may have filled in a password before us.
    if (isSecret(element)) return { url, data: { selector, value_left_out: true } };
    return { url, data: { selector, value: element.value } };
  }

  const selection = getSelection();
  selection.selectAllChildren(element);
  if (!clear) selection.collapseToEnd();
  // The editing command keeps the undo history and fires beforeinput and input as typing does.
  document.execCommand(clear && text === '' ? 'delete' : 'insertText', false, text);
  element.dispatchEvent(new Event('change', { bubbles: true }));
  // An emptied editor keeps a line break that holds its caret; nobody typed it.
  return { url, data: { selector, value: element.innerText.replace(/\n$/, '') } };
}
