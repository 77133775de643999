/* global callslip */
/** Runs in each frame of a page. Sends the events of keys and does what the browser does with them. */
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

  /** Sends the events of the modifiers that a stroke names, around what they are held for. */
  function holding(held, inner) {
    const flags = {};
    for (const key of held) {
      const { flag, ...rest } = MODIFIERS[key];
      flags[flag] = true;
      send('keydown', { key, ...rest, ...flags, location: LEFT });
    }
    inner();
    for (const key of [...held].reverse()) {
      const { flag, ...rest } = MODIFIERS[key];
      flags[flag] = false;
      send('keyup', { key, ...rest, ...flags, location: LEFT });
    }
  }

  function strike(stroke) {
    const { key, ctrlKey, altKey, metaKey } = stroke;
    const writes = ([...key].length === 1 || key === 'Enter') && !ctrlKey && !altKey && !metaKey;
    let goesOn = send('keydown', stroke);
    if (goesOn) keyDefaults.keydown(focus.focused(), stroke);
    if (goesOn && writes) {
      goesOn = send('keypress', stroke);
      if (goesOn) keyDefaults.keypress(focus.focused(), stroke);
    }
    const target = focus.focused();
    if (send('keyup', stroke) && goesOn) keyDefaults.keyup(target, stroke);
  }

  /** Erases what is selected, as a person does: editors may listen to the key alone. */
  function erase() {
    strike(BACKSPACE);
  }

  /** What has the focus for an element: of one in an editor, the editor. */
  function holderOf(element) {
    let at = element;
    while (at.isContentEditable && at.parentElement?.isContentEditable) at = at.parentElement;
    return at;
  }

  /** Gives an element the focus; refuses where another one has it then, as keys and text would go there. */
  function giveFocus(element) {
    const { say } = callslip.target;
    const holder = holderOf(element);
    const before = focus.focused();
    let isMoved = false;
    const hear = () => { isMoved = true; };
    for (const type of ['focus', 'blur']) addEventListener(type, hear, { capture: true });
    focus.give(holder);
    for (const type of ['focus', 'blur']) removeEventListener(type, hear, { capture: true });
    const now = focus.focused();
    if (shadow.contains(holder, now)) return;
    isMoved ||= now !== before;
    throw new callslip.Failure({
      code: 'not_editable',
      message: isMoved ? `${say(element)} does not keep the focus: ${say(now)} has it.`
        : `${say(element)} cannot have the focus; nothing was typed or pressed.`,
      hint: 'Name the element that takes keys and text; press and type without selector go where the focus is.',
      mayHaveExecuted: isMoved,
    });
  }

  /** Presses keys one after the other on an element, or without a key of one where the focus is. */
  async function press(key, strokes, { leftMs = Infinity } = {}) {
    let pressed = 0;
    const turn = callslip.turns.begin(leftMs, () => `${pressed} of ${strokes.length} keys had been pressed`);
    if (key !== null) {
      const element = callslip.target.element(key);
      await turn.step(element, () => giveFocus(element));
    }
    focus.watchFirst(focus.focused());
    for (const stroke of strokes) {
      const isAlone = stroke.key in MODIFIERS;
      await turn.step(focus.focused(), () => {
        if (isAlone) holding([...stroke.held, stroke.key], () => {});
        else holding(stroke.held, () => strike(stroke));
        pressed += 1;
      });
    }
  }

  function caretToEnd(element) {
    if ('selectionStart' in element && element.selectionStart !== null) {
      element.setSelectionRange(element.value.length, element.value.length);
    } else if (element.isContentEditable) {
      getSelection().selectAllChildren(element);
      getSelection().collapseToEnd();
    }
  }

  /**
   * Types a text with the keys of its characters, at the caret: of a field that has not had the focus
   * at its end. `strokes` has the key of each character, or is null for a text that is put in at
   * once. `clear` replaces what is there. Answers what the field is called and holds then; `isOpen` where
   * fields.outcome has to say whether that is the text.
   */
  async function type(key, text, { strokes, clear, leftMs = Infinity }) {
    const { fields, target } = callslip;
    const element = key === null ? focus.focused() : target.element(key);
    const said = target.say(element);
    const characters = [...text];
    let typed = 0;
    const turn = callslip.turns.begin(leftMs, () => `${typed} of ${characters.length} characters had been typed into ${said}`);
    if (fields.kindOf(element) === 'form' && keyDefaults.isEditable(element)) {
      fields.putTyped(element, text, clear);
      return { said, isOpen: true, ...fields.report(element) };
    }
    const hadFocus = focus.focused() === element;
    await turn.step(element, () => {
      if (!hadFocus) giveFocus(element);
    });
    focus.watchFirst(element);
    await turn.step(element, () => {
      if (clear) fields.selectAll(element);
      else if (!hadFocus) caretToEnd(element);
    });
    const isOpen = fields.beginTyped(element, text, { isAtEnd: clear || !hadFocus, clear });
    const write = (piece) => turn.step(element, () => fields.insert(element, piece));
    if (clear && text === '') await write('');
    if (!strokes) await write(text);
    else {
      for (const character of characters) {
        await turn.step(element, () => {
          strike(strokes[character]);
          typed += 1;
        });
      }
    }
    return { said, isOpen, ...fields.report(element) };
  }

  /** Where keys go: `{frame}`, the key of a frame's element, or `{}` for this frame. */
  function place() {
    const element = focus.focused();
    return element.contentWindow ? { frame: callslip.frame_path.keyOf(element) } : {};
  }

  return { erase, giveFocus, place, press, type };
})();
