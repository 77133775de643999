/* global callslipElements */
/**
 * Runs in the page. Sends the events of a click of a mouse in their usual order, at the middle of
 * the element; the last one does what a click on that element does.
 */
export function clickElement(selector, limitChars) {
  const url = location.href;
  const { failed, find, intoView, mouseAt, textOf } = callslipElements;
  const { element, refusal } = find(selector);
  if (refusal) return refusal;
  if (element.matches(':disabled')) {
    return failed('execution_failed', `The element ${selector} is disabled.`);
  }

  const tag = element.tagName.toLowerCase();
  const text = textOf(element, limitChars);
  intoView(element);
  const shared = { ...mouseAt(element), detail: 1 };
  const pointer = { ...shared, pointerId: 1, pointerType: 'mouse', isPrimary: true, detail: 0 };
  const send = (event) => element.dispatchEvent(event);

  send(new PointerEvent('pointerover', pointer));
  send(new MouseEvent('mouseover', shared));
  send(new PointerEvent('pointerdown', { ...pointer, buttons: 1 }));
  if (send(new MouseEvent('mousedown', { ...shared, buttons: 1 }))) {
    const focusable = 'a[href], button, input, select, textarea, [tabindex], [contenteditable]';
    element.closest(focusable)?.focus({ preventScroll: true });
  }
  send(new PointerEvent('pointerup', pointer));
  send(new MouseEvent('mouseup', shared));
  send(new PointerEvent('click', { ...pointer, detail: 1 }));
  return { url, data: { selector, tag, text } };
}
