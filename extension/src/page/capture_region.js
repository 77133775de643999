/* global callslip, callslipElements */
/**
 * These run in the page one after the other, and make it hold still for a picture that is put
 * together from several captures: `beginCapture`, `showTile` for each, `endCapture`. What they share is
 * kept by a symbol, which no element of the page can have as its name.
 */

/**
 * Answers the region of the page that the picture shows, in CSS pixels: an element's, or the whole
 * page where `key` is null. When nothing more is asked for `patienceMs`, the page gets its
 * looks back by itself.
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

  // What is fixed or sticks to an edge would show in every capture. Where it belongs to the element
  // that is wanted, it stays.
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
 * Scrolls to a place, or as near to it as the page goes, and resolves once that has been painted;
 * answers where it is.
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

/** Gives the page its looks and its place back. */
export function endCapture() {
  globalThis[Symbol.for('callslip.capture')]?.end();
  return { url: location.href };
}
