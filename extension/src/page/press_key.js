/* global callslipElements */
/**
 * Runs in the page. Sends the events of a key, and does what the browser would do with it where
 * that is part of using a page: it writes, erases, submits, activates, moves the focus and selects
 * all. The browser does nothing of its own for events that come from a script.
 */
export function pressKey(stroke, selector) {
  const url = location.href;
  if (selector !== null) {
    const { element, refusal } = callslipElements.find(selector);
    if (refusal) return refusal;
    callslipElements.intoView(element);
    element.focus({ preventScroll: true });
  }
  const target = document.activeElement ?? document.body ?? document.documentElement;
  const { key, ctrlKey, shiftKey, altKey, metaKey } = stroke;
  const command = ctrlKey || metaKey;
  const isText = [...key].length === 1 && !command && !altKey;

  const isTextField = target instanceof HTMLTextAreaElement
    || (target instanceof HTMLInputElement && target.selectionStart !== null)
    || (target instanceof HTMLInputElement && ['email', 'number'].includes(target.type));
  const isEditable = isTextField || target.isContentEditable;
  const isActivated = target.matches('a[href], button, summary, input[type=button], '
    + 'input[type=submit], input[type=reset]');
  const edit = (what, text) => document.execCommand(what, false, text);

  function submit() {
    const { form } = target;
    const button = form?.querySelector('button:not([type]), [type=submit], [type=image]');
    if (button) button.click();
    else form?.requestSubmit();
  }

  function enter() {
    if (isActivated) return target.click();
    if (target instanceof HTMLInputElement) return submit();
    if (!isEditable) return undefined;
    return edit(target instanceof HTMLTextAreaElement ? 'insertLineBreak' : 'insertParagraph');
  }

  function moveFocus() {
    const reachable = 'a[href], button, input, select, textarea, summary, [tabindex], '
      + '[contenteditable=""], [contenteditable=true]';
    const isStop = (element) => element.tabIndex >= 0 && !element.matches(':disabled')
      && callslipElements.isVisible(element);
    const stops = [...document.querySelectorAll(reachable)].filter(isStop);
    const at = stops.indexOf(target);
    const next = shiftKey ? (at < 0 ? stops.length : at) - 1 : at + 1;
    stops.at(next % stops.length)?.focus();
  }

  function selectAll() {
    if (isTextField) target.select();
    else edit('selectAll');
  }

  function defaultAction() {
    if (command) return key.toLowerCase() === 'a' ? selectAll() : undefined;
    if (key === 'Enter') return enter();
    if (key === 'Tab') return moveFocus();
    if (isEditable && key === 'Backspace') return edit('delete');
    if (isEditable && key === 'Delete') return edit('forwardDelete');
    if (isEditable && isText) return edit('insertText', key);
    return undefined;
  }

  const shared = { ...stroke, bubbles: true, cancelable: true, composed: true, view: window };
  const send = (type) => target.dispatchEvent(new KeyboardEvent(type, shared));
  let goesOn = send('keydown');
  if (goesOn && (isText || key === 'Enter')) goesOn = send('keypress');
  if (goesOn) defaultAction();
  const released = send('keyup');
  const isToggled = isActivated || target.matches('input[type=checkbox], input[type=radio]');
  if (goesOn && released && key === ' ' && isToggled && !target.matches('a')) target.click();
  return { url };
}
