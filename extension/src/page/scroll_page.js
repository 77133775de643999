/* global callslipElements */
/**
 * Runs in the page. Scrolls an element into view, else to `x` and `y` as far as they are given,
 * else by `dx` and `dy`; all in CSS pixels. Answers where the page is then.
 */
export function scrollPage({ selector = null, x, y, dx, dy }) {
  const url = location.href;
  if (selector !== null) {
    const { element, refusal } = callslipElements.find(selector);
    if (refusal) return refusal;
    callslipElements.intoView(element);
  } else {
    const left = x ?? scrollX + (dx ?? 0);
    const top = y ?? scrollY + (dy ?? 0);
    scrollTo({ left, top, behavior: 'instant' });
  }
  return { url, data: { x: scrollX, y: scrollY } };
}
