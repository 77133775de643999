/* global callslip, callslipElements */
/**
 * These functions run in the page one after the other, and hold it still for a picture that is assembled
 * from several captures: `beginCapture`, `showTile` for each, `endCapture`. Their shared state is stored
 * under a symbol, which no element of the page can have as its name.
 */

/**
 * Returns the region of the page that the picture shows, in CSS pixels: that of an element, or the whole
 * page if `key` is null. If no further call comes for `patienceMs`, the page gets its appearance back by
 * itself.
 */
export function beginCapture(key, fixedCandidates, patienceMs) {
  const url = location.href;
  const CAPTURE = Symbol.for('callslip.capture');
  globalThis[CAPTURE]?.end();
  const before = { left: scrollX, top: scrollY, behavior: 'instant' };
  const { clientWidth, scrollHeight } = document.scrollingElement ?? document.documentElement;
  let region = { x: 0, y: 0, width: clientWidth, height: scrollHeight };
  let element = null;
  if (key !== null) {
    try {
      element = callslip.target.element(key);
    } catch (error) {
      return { url, error: error.answer };
    }
    callslipElements.intoView(element);
    region = callslipElements.boundsOf(element);
  }

  const restyled = [];
  function restyle(each, style) {
    restyled.push([each, each.getAttribute('style')]);
    for (const [name, value] of Object.entries(style)) {
      each.style.setProperty(name, value, 'important');
    }
  }

  // Fixed and sticky elements would appear in every capture. They stay if they belong to the captured
  // element.
  const floating = { fixed: [], sticky: [] };
  for (const each of [...document.querySelectorAll('*')].slice(0, fixedCandidates)) {
    const { position } = getComputedStyle(each);
    if (!floating[position] || (element && (each.contains(element) || element.contains(each)))) {
      continue;
    }
    floating[position].push(each);
  }
  for (const each of floating.sticky) restyle(each, { position: 'relative', inset: 'auto' });

  let timer;
  globalThis[CAPTURE] = {
    goOn() {
      clearTimeout(timer);
      timer = setTimeout(() => this.end(), patienceMs);
    },
    hideFixed() {
      const hidden = { visibility: 'hidden', transition: 'none' };
      for (const each of floating.fixed.splice(0)) restyle(each, hidden);
    },
    end() {
      clearTimeout(timer);
      for (const [each, style] of restyled.splice(0).reverse()) {
        if (style === null) each.removeAttribute('style');
        else each.setAttribute('style', style);
      }
      scrollTo(before);
      globalThis[CAPTURE] = undefined;
    },
  };
  globalThis[CAPTURE].goOn();
  const view = { viewWidth: innerWidth, viewHeight: innerHeight, pixelRatio: devicePixelRatio };
  return { url, data: { region, ...view } };
}

/**
 * Scrolls to a position, or as near to it as the page permits, and resolves once that has been painted;
 * returns the actual position.
 */
export async function showTile(x, y, hideFixed, patienceMs) {
  const url = location.href;
  const capture = globalThis[Symbol.for('callslip.capture')];
  if (hideFixed) capture?.hideFixed();
  capture?.goOn();
  scrollTo({ left: x, top: y, behavior: 'instant' });
  await new Promise((resolve) => {
    requestAnimationFrame(() => requestAnimationFrame(resolve));
    setTimeout(resolve, patienceMs);
  });
  return { url, data: { x: scrollX, y: scrollY, viewWidth: innerWidth } };
}

/** Restores the appearance and the scroll position of the page. */
export function endCapture() {
  globalThis[Symbol.for('callslip.capture')]?.end();
  return { url: location.href };
}
