/* global callslip */
/** Runs in each frame of a page. Sends key events and performs the browser's default actions. */
callslip.keys = (() => {
  const { focus, keyDefaults, shadow } = callslip;
  const MODIFIERS = {
    Control: { code: 'ControlLeft', keyCode: 17, flag: 'ctrlKey' },
    Shift: { code: 'ShiftLeft', keyCode: 16, flag: 'shiftKey' },
    Alt: { code: 'AltLeft', keyCode: 18, flag: 'altKey' },
    Meta: { code: 'MetaLeft', keyCode: 91, flag: 'metaKey' },
  };
  const LEFT = 1;
  const BACKSPACE = { key: 'Backspace', code: 'Backspace', keyCode: 8 };

  function send(type, { key, code, keyCode, location = 0, ...flags }) {
    const charCode = type === 'keypress' ? key.codePointAt(0) : 0;
    const number = key === 'Enter' ? 13 : charCode;
    const codes = type === 'keypress' ? { charCode: number, keyCode: number } : { keyCode };
    const { ctrlKey, shiftKey, altKey, metaKey } = flags;
    return focus.focused().dispatchEvent(new KeyboardEvent(type, {
      key, code, location, ctrlKey, shiftKey, altKey, metaKey, ...codes,
      bubbles: true, cancelable: true, composed: true, view: window,
    }));
  }

  /**
   * Sends the events of the modifiers that a stroke names, before and after `inner`. If the stroke goes on
   * in another frame, its keys are released there; returns where.
   */
  function holding(held, inner) {
    const flags = {};
    for (const key of held) {
      const { flag, ...rest } = MODIFIERS[key];
      flags[flag] = true;
      send('keydown', { key, ...rest, ...flags, location: LEFT });
    }
    const leaves = inner();
    if (!leaves) release(held);
    return leaves;
  }

  function release(held) {
    const flags = Object.fromEntries(held.map((key) => [MODIFIERS[key].flag, true]));
    for (const key of [...held].reverse()) {
      const { flag, ...rest } = MODIFIERS[key];
      flags[flag] = false;
      send('keyup', { key, ...rest, ...flags, location: LEFT });
    }
  }

  const isText = ({ key }) => [...key].length === 1;

  /**
   * Presses a key; `guard` throws if it must not have its effect on the element that then has the focus.
   * Returns where it goes on in another frame.
   */
  function strike(stroke, guard = () => {}) {
    const { key, ctrlKey, altKey, metaKey } = stroke;
    const writes = (isText(stroke) || key === 'Enter') && !ctrlKey && !altKey && !metaKey;
    let goesOn = send('keydown', stroke);
    if (goesOn) {
      guard(stroke);
      if (stroke.key === 'Tab') {
        const leaves = callslip.tabOrder.move(focus.focused(), stroke.shiftKey);
        if (leaves) return leaves;
      } else {
        keyDefaults.keydown(focus.focused(), stroke);
      }
    }
    if (goesOn && writes) {
      goesOn = send('keypress', stroke);
      if (goesOn) {
        guard(stroke);
        keyDefaults.keypress(focus.focused(), stroke);
      }
    }
    const target = focus.focused();
    if (send('keyup', stroke) && goesOn) keyDefaults.keyup(target, stroke);
    return undefined;
  }

  /**
   * Goes on with a Tab key that has left another frame: from the element of that frame, named by its key,
   * or from `null` if that is the frame around this one. Returns where it goes on again, or undefined.
   */
  function tab(stroke, after) {
    const from = after === null ? null : callslip.frame_path.element(after) ?? document.body;
    const leaves = callslip.tabOrder.move(from, stroke.shiftKey);
    if (leaves) return leaves;
    send('keyup', stroke);
    release(stroke.held);
    return undefined;
  }

  /** Erases the selection with a key, as a person does: editors may react to the key only. */
  function erase(element) {
    strike(BACKSPACE, () => mustHaveFocus(element));
  }

  /** The element that gets the focus for another one: for an element in an editor, the editor. */
  function holderOf(element) {
    let at = element;
    while (!focus.isField(at) && at.isContentEditable && at.parentElement?.isContentEditable) at = at.parentElement;
    return at;
  }

  /** Throws if a different element has the focus, because keys and text would go there. */
  function mustHaveFocus(element, isMoved = true) {
    const { say } = callslip.target;
    const now = focus.focused();
    if (shadow.contains(holderOf(element), now)) return;
    throw new callslip.Failure({
      code: 'not_editable',
      message: isMoved ? `${say(element)} does not keep the focus: ${say(now)} has it.`
        : `${say(element)} cannot have the focus; nothing was typed or pressed.`,
      hint: 'Name the element that takes keys and text; press and type without selector go where the focus is.',
      mayHaveExecuted: isMoved,
    });
  }

  /** Gives an element the focus; throws if a different one has it afterwards. */
  function giveFocus(element) {
    const before = focus.focused();
    let isMoved = false;
    const hear = () => { isMoved = true; };
    for (const type of ['focus', 'blur']) addEventListener(type, hear, { capture: true });
    focus.give(holderOf(element));
    for (const type of ['focus', 'blur']) removeEventListener(type, hear, { capture: true });
    mustHaveFocus(element, isMoved || focus.focused() !== before);
  }

  /**
   * Presses keys one after the other on an element, or, if `key` is null, on the focused element. Ends
   * early, after a key that has copied something, or goes on in another frame. Returns `{pressed, copied,
   * note, leaves}`: the number of keys, and what clipboard.js and tab_order.js return for the last one.
   * `clipboard` is the content to paste, `clipboardChars` its limit, and `before` the number of keys that
   * the command has pressed before.
   */
  async function press(key, strokes, { leftMs = Infinity, before = 0, clipboard = {}, clipboardChars } = {}) {
    let pressed = 0;
    const far = () => `${before + pressed} of ${before + strokes.length} keys had been pressed`;
    const turn = callslip.turns.begin(leftMs, far);
    callslip.clipboard.begin(clipboard, clipboardChars);
    const element = key === null ? focus.focused() : callslip.target.element(key);
    if (key !== null) await turn.step(element, () => giveFocus(element));
    for (const [place, stroke] of strokes.entries()) {
      const isAlone = stroke.key in MODIFIERS;
      let leaves;
      await turn.step(focus.focused(), () => {
        if (place === 0) mustHaveFocus(element);
        if (isAlone) holding([...stroke.held, stroke.key], () => {});
        else leaves = holding(stroke.held, () => strike(stroke));
        pressed += 1;
      }, { isLast: place === strokes.length - 1, isDrawn: !isText(stroke) });
      if (leaves) return { pressed, leaves };
      const outcome = stroke.clipboard ? callslip.clipboard.takeOutcome() : {};
      if (outcome.copied || outcome.note) return { pressed, ...outcome };
    }
    return { pressed };
  }

  function caretToEnd(element) {
    if ('selectionStart' in element && element.selectionStart !== null) {
      element.setSelectionRange(element.value.length, element.value.length);
    } else if (element.isContentEditable) {
      getSelection().selectAllChildren(element);
      getSelection().collapseToEnd();
    }
  }

  const isFull = ({ maxLength, value }) => maxLength >= 0 && value.length >= maxLength;

  /**
   * Returns a function that throws if the page has moved the focus away from a password field that is not
   * full: the rest would be visible elsewhere. Enter ends a password.
   */
  function keepingPasswords(far) {
    let at;
    let isPassword = false;
    return (stroke) => {
      if (!isText(stroke)) {
        isPassword = false;
        return;
      }
      const now = focus.focused();
      if (now !== at && isPassword && !isFull(at) && now.type !== 'password') {
        const { say } = callslip.target;
        throw new callslip.Failure({
          code: 'not_editable',
          message: `${say(at)} does not keep the focus: ${say(now)} had it when ${far()}.`,
          hint: 'The rest would be seen there. Look at what the page shows now: analyze page.',
          mayHaveExecuted: true,
        });
      }
      // The page may make the password visible meanwhile.
      isPassword = now.type === 'password' || (now === at && isPassword);
      at = now;
    };
  }

  /**
   * Types a text with the keys of its characters, at the caret, which is at the end of a field that did not
   * have the focus. `strokes` has the key of each character, or is null for a text that is inserted at
   * once. `clear` replaces the existing text. Returns the description and the value of the field;
   * held.outcome returns the final value once the page has run its own code.
   */
  async function type(key, text, { strokes, clear, leftMs = Infinity }) {
    const { fields, held, target } = callslip;
    const element = key === null ? focus.focused() : target.element(key);
    const said = target.say(element);
    const characters = [...text];
    let typed = 0;
    const far = () => `${typed} of ${characters.length} characters had been typed into ${said}`;
    const turn = callslip.turns.begin(leftMs, far);
    const answer = () => ({ said, isOpen: true, ...held.report(element) });
    if (fields.beginTyped(element, text, clear)) return answer();
    const hadFocus = focus.focused() === element;
    await turn.step(element, () => {
      if (!hadFocus) giveFocus(element);
    });
    await turn.step(element, () => {
      mustHaveFocus(element);
      if (clear) fields.selectAll(element);
      else if (!hadFocus) caretToEnd(element);
    });
    const guard = keepingPasswords(far);
    if (!strokes || (clear && text === '')) {
      await turn.step(element, () => fields.insert(element, text), { isLast: true });
      return answer();
    }
    for (const [place, character] of characters.entries()) {
      await turn.step(element, () => {
        if (place === 0) mustHaveFocus(element);
        guard(strokes[character]);
        strike(strokes[character], guard);
        typed += 1;
      }, { isLast: place === characters.length - 1, isDrawn: !isText(strokes[character]) });
    }
    return answer();
  }

  /** The destination of keys: `{frame}`, the key of a frame's element, or `{}` for this frame. */
  function place() {
    const element = focus.focused();
    return element.contentWindow ? { frame: callslip.frame_path.keyOf(element) } : {};
  }

  return { erase, giveFocus, mustHaveFocus, place, press, tab, type };
})();
