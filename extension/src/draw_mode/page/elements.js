'use strict';
/** Finds and describes the elements of the page that are beneath the drawing. */
{
  /** The properties that a mark on an element may refer to: its colors, its font, its spacing. */
  const STYLES = ['color', 'background-color', 'font-family', 'font-size', 'font-weight',
    'line-height', 'text-align', 'display', 'position', 'margin', 'padding', 'width', 'height',
    'border', 'border-radius', 'opacity'];

  /** The element that a person sees at a point of the view; null outside the view. */
  function elementBeneath(host, { x, y }) {
    const found = document.elementsFromPoint(x, y).find((element) => element !== host);
    return found ?? null;
  }

  /** The bounds of the element, in CSS pixels of the page. */
  function pageBounds(element) {
    const { x, y, width, height } = element.getBoundingClientRect();
    const round = (value) => Math.round(value * 100) / 100;
    return {
      x: round(x + scrollX),
      y: round(y + scrollY),
      width: round(width),
      height: round(height),
    };
  }

  /** The description of an element for the agent. `textChars` and `styleChars` truncate long values. */
  function describeElement(element, { textChars, styleChars }) {
    const styles = getComputedStyle(element);
    const text = (element.innerText ?? element.textContent ?? '').trim();
    return {
      selector: callslipSelectors.selectorOf(element),
      tag: element.localName,
      text: callslipCutText(text, textChars),
      computed_style: Object.fromEntries(
        STYLES.map((name) => [name, callslipCutText(styles.getPropertyValue(name), styleChars)]),
      ),
      bounds: pageBounds(element),
    };
  }

  /** The nearest element around `element` that the wheel can still scroll in this direction. */
  function scrollerAround(element, { deltaX, deltaY }) {
    const turns = (at) => {
      const { overflowX, overflowY } = getComputedStyle(at);
      const scrolls = (overflow) => overflow === 'auto' || overflow === 'scroll';
      const down = deltaY > 0 ? at.scrollHeight - at.clientHeight - at.scrollTop : at.scrollTop;
      const right = deltaX > 0 ? at.scrollWidth - at.clientWidth - at.scrollLeft : at.scrollLeft;
      return (deltaY !== 0 && scrolls(overflowY) && down >= 1)
        || (deltaX !== 0 && scrolls(overflowX) && right >= 1);
    };
    const root = document.scrollingElement ?? document.documentElement;
    for (let at = element; at && at !== root; at = at.parentElement) {
      if (at !== document.body && turns(at)) return at;
    }
    return root;
  }

  Object.assign(callslipDraw, { elementBeneath, pageBounds, describeElement, scrollerAround });
}
