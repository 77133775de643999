/* global callslipElements */
/**
 * Runs in the page. Sends the events of a mouse that comes over the element. Style sheets do not
 * hear of them: what `:hover` shows stays hidden.
 */
export function hoverElement(selector, limitChars) {
  const url = location.href;
  const { find, intoView, mouseAt, textOf } = callslipElements;
  const { element, refusal } = find(selector);
  if (refusal) return refusal;
  intoView(element);
  const over = mouseAt(element);
  const enter = { ...over, bubbles: false, cancelable: false };
  const pointer = (init) => ({ ...init, pointerId: 1, pointerType: 'mouse', isPrimary: true });
  for (const [type, init] of [['over', over], ['enter', enter], ['move', over]]) {
    element.dispatchEvent(new PointerEvent(`pointer${type}`, pointer(init)));
    element.dispatchEvent(new MouseEvent(`mouse${type}`, init));
  }
  const tag = element.tagName.toLowerCase();
  return { url, data: { selector, tag, text: textOf(element, limitChars) } };
}
