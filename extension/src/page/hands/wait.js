/* global callslip */
/** Runs in each frame of a page. Checks for the element or text that a command waits for. */
callslip.wait = (() => {
  const { hitTest, refs, shadow, target } = callslip;
  const BUTTONS = 'input[type=button], input[type=submit], input[type=reset]';

  const normal = (text) => text.replace(/\s+/g, ' ').trim().toLowerCase();
  const isShown = (element) => element.checkVisibility({ checkOpacity: true, checkVisibilityCSS: true })
    && Boolean(hitTest.boxOf(element));
  const textOf = (element) => `${element.textContent} ${element.matches(BUTTONS) ? element.value : ''}`;

  /** Elements that can contain a text as a whole: the body, the content of shadow trees, and buttons. */
  function holders() {
    const roots = shadow.queryAll('*').map(shadow.rootOf).filter(Boolean);
    const tops = roots.flatMap(({ children }) => [...children]);
    return [document.body, ...tops, ...shadow.queryAll(BUTTONS)].filter(Boolean)
      .filter((each) => !['STYLE', 'SCRIPT'].includes(each.tagName));
  }

  function textHere(words) {
    const all = holders();
    const shownIn = (each) => normal(`${each.innerText ?? ''} ${each.matches(BUTTONS) && isShown(each) ? each.value : ''}`);
    const shown = all.some((each) => shownIn(each).includes(words));
    return { found: shown || all.some((each) => normal(textOf(each)).includes(words)), shown };
  }

  /** `{found, shown, loading}`: whether it is here, and whether it is visible. */
  function look({ selector = null, number = null, text = null }) {
    const loading = document.readyState === 'loading';
    const words = text === null ? '' : normal(text);
    if (selector === null && number === null) return { ...textHere(words), loading };
    const all = number === null ? target.matches(selector) : [refs.element(number)].filter(Boolean);
    const held = all.filter((each) => normal(textOf(each)).includes(words));
    return { found: held.length > 0, shown: held.some(isShown), loading };
  }

  return { look };
})();
