/* global callslip */
/**
 * Runs in each frame of a page. Performs Chromium's default action of a key if that is part of using a
 * page: writing, erasing, moving the caret, submitting, activating, scrolling. The browser itself performs
 * none for synthetic events.
 */
callslip.keyDefaults = (() => {
  const { editing, focus, keyChoices, scrolling } = callslip;
  const NO_TEXT = ['button', 'checkbox', 'color', 'file', 'hidden', 'image', 'radio', 'range',
    'reset', 'submit'];
  const ACTIVATED = 'a[href], button, summary, input[type=button], input[type=submit], '
    + 'input[type=reset], input[type=image], input[type=color], input[type=file]';
  const SUBMIT = 'button:not([type]), button[type=submit], input[type=submit], input[type=image]';

  /** How far the arrow and page keys scroll, as in Chromium. */
  const LINE_PIXELS = 40;
  const PAGE_PART = 0.875;

  function isTextField(element) {
    return element instanceof HTMLTextAreaElement
      || (element instanceof HTMLInputElement && !NO_TEXT.includes(element.type));
  }

  function isEditable(element) {
    if (!isTextField(element)) return element.isContentEditable;
    return !element.readOnly && !element.matches(':disabled');
  }

  function submit(field) {
    const { form } = field;
    if (!form) return;
    const button = [...form.elements].find((each) => each.matches(SUBMIT))
      ?? form.querySelector('input[type=image]');
    if (button) {
      if (!button.matches(':disabled')) button.click();
      return;
    }
    const texts = [...form.elements].filter((each) => each instanceof HTMLInputElement
      && isTextField(each));
    if (texts.length === 1) form.requestSubmit();
  }

  function enter(target, { shiftKey }) {
    if (target.matches(ACTIVATED)) return target.click();
    if (target instanceof HTMLInputElement || target instanceof HTMLSelectElement) {
      if (isEditable(target) && !editing.ask('insertLineBreak')) return undefined;
      focus.commit(target);
      return submit(target);
    }
    if (!isEditable(target)) return undefined;
    const isLine = target instanceof HTMLTextAreaElement || shiftKey;
    return editing.edit(isLine ? 'insertLineBreak' : 'insertParagraph', '\n');
  }

  const PARTS = {
    ArrowLeft: ['left', 'character', 'word'],
    ArrowRight: ['right', 'character', 'word'],
    ArrowUp: ['backward', 'line', 'paragraph'],
    ArrowDown: ['forward', 'line', 'paragraph'],
    Home: ['backward', 'lineboundary', 'documentboundary'],
    End: ['forward', 'lineboundary', 'documentboundary'],
  };

  function moveCaret(target, { key, ctrlKey, shiftKey, altKey, metaKey }) {
    if (altKey || metaKey) return false;
    const alter = shiftKey ? 'extend' : 'move';
    if (key === 'PageUp' || key === 'PageDown') {
      if (!(target instanceof HTMLTextAreaElement)) return false;
      const style = getComputedStyle(target);
      const height = parseFloat(style.lineHeight) || parseFloat(style.fontSize) * 1.2;
      const lines = Math.max(1, Math.floor((target.clientHeight * PAGE_PART) / height));
      const way = key === 'PageUp' ? 'backward' : 'forward';
      for (let line = 0; line < lines; line += 1) getSelection().modify(alter, way, 'line');
      return true;
    }
    if (!(key in PARTS)) return false;
    const [way, part, largerPart] = PARTS[key];
    getSelection().modify(alter, way, ctrlKey ? largerPart : part);
    return true;
  }

  function erase({ key, ctrlKey }) {
    editing.edit(`delete${ctrlKey ? 'Word' : 'Content'}${key === 'Backspace' ? 'Backward' : 'Forward'}`);
  }

  function isEmptySelection(target) {
    if (!isTextField(target)) return editing.selectionOf(target).isCollapsed;
    // Some fields, such as those for numbers, do not tell where their selection is.
    if (target.selectionStart === null) return String(getSelection()) === '';
    return target.selectionStart === target.selectionEnd;
  }

  function selectAll(target) {
    if (isTextField(target)) target.select();
    else document.execCommand('selectAll');
  }

  function shortcut(target, { key, shiftKey }) {
    const letter = key.toLowerCase();
    if (letter === 'a') return selectAll(target);
    if (letter === 'z' && isEditable(target)) return editing.edit(shiftKey ? 'historyRedo' : 'historyUndo');
    if (letter === 'y' && isEditable(target)) return editing.edit('historyRedo');
    return undefined;
  }

  /** Escape closes the topmost layer: a popover, else a modal dialog. */
  function escape() {
    const popover = [...document.querySelectorAll('[popover=auto], [popover=""]')]
      .findLast((each) => each.matches(':popover-open'));
    if (popover) return popover.hidePopover();
    const dialog = [...document.querySelectorAll('dialog')].findLast((each) => each.matches(':modal'));
    if (!dialog) return undefined;
    return dialog.dispatchEvent(new Event('cancel', { cancelable: true })) && dialog.close();
  }

  function scrollBy(target, { key, shiftKey }) {
    const way = key === ' ' && shiftKey ? -1 : 1;
    const page = (axis) => Math.floor(PAGE_PART
      * scrolling.scrollerOf(target, axis)[axis === 'y' ? 'clientHeight' : 'clientWidth']);
    const by = {
      ArrowUp: { dy: -LINE_PIXELS },
      ArrowDown: { dy: LINE_PIXELS },
      ArrowLeft: { dx: -LINE_PIXELS },
      ArrowRight: { dx: LINE_PIXELS },
      PageUp: { dy: -page('y') },
      PageDown: { dy: page('y') },
      ' ': { dy: way * page('y') },
      Home: { y: 0 },
      End: { y: scrolling.scrollerOf(target, 'y').scrollHeight },
    }[key];
    if (by) scrolling.scroll(target, by);
  }

  /** The browser's default action of keydown, except for Tab: see tab_order.js. */
  function keydown(target, stroke) {
    const { key, ctrlKey, metaKey, altKey } = stroke;
    if (key === 'Escape') return escape();
    if (stroke.clipboard) return callslip.clipboard.act(stroke.clipboard);
    if (keyChoices.act(target, stroke)) return undefined;
    const takesText = isTextField(target) || target.isContentEditable;
    if (isEditable(target) && (key === 'Backspace' || key === 'Delete')) return erase(stroke);
    if (takesText && moveCaret(target, stroke)) return undefined;
    if (ctrlKey || metaKey) return shortcut(target, stroke);
    if (takesText || altKey || key === ' ') return undefined;
    return scrollBy(target, stroke);
  }

  /** The browser's default action of keypress, which only Enter and character keys have. */
  function keypress(target, stroke) {
    const { key } = stroke;
    if (key === 'Enter') return enter(target, stroke);
    if (isEditable(target)) return callslip.fields.insert(target, key);
    if (target instanceof HTMLSelectElement && key !== ' ') return keyChoices.selectByText(target, key);
    if (key === ' ' && !target.matches(`input, select, ${ACTIVATED}`)) return scrollBy(target, stroke);
    return undefined;
  }

  /** The browser's default action of keyup. */
  function keyup(target, { key, ctrlKey, altKey, metaKey }) {
    if (key !== ' ' || ctrlKey || altKey || metaKey || target.matches('a')) return;
    const isToggle = target.matches('input[type=checkbox], input[type=radio]');
    if (isToggle || target.matches(ACTIVATED)) target.click();
  }

  return { isEditable, isEmptySelection, isTextField, keydown, keypress, keyup };
})();
