/**
 * Runs in the page. Sends the events of a click of a mouse in their usual order, at the middle of
 * the element; the last one does what a click on that element does.
 */
export function clickElement(selector, limitChars) {
  const url = location.href;
  const failed = (code, message, hint) => ({
    url,
    error: { code, message, hint, mayHaveExecuted: false },
  });

  let element;
  try {
    element = document.querySelector(selector);
  } catch {
    return failed('invalid_params', 'selector: must be a valid CSS selector');
  }
  if (!element) return failed('element_not_found', `No element matches ${selector}.`);
  if (element.matches(':disabled')) {
    return failed('execution_failed', `The element ${selector} is disabled.`);
  }

  const tag = element.tagName.toLowerCase();
  const text = (element.innerText ?? element.textContent).trim().slice(0, limitChars);
  element.scrollIntoView({ block: 'center', inline: 'center', behavior: 'instant' });
  const box = element.getBoundingClientRect();
  const shared = {
    bubbles: true,
    cancelable: true,
    composed: true,
    clientX: box.left + box.width / 2,
    clientY: box.top + box.height / 2,
    button: 0,
    detail: 1,
  };
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
