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
  function press(key, strokes) {
    if (key !== null) giveFocus(callslip.target.element(key));
    focus.watchFirst(focus.focused());
    for (const stroke of strokes) {
      const isAlone = stroke.key in MODIFIERS;
      if (isAlone) holding([...stroke.held, stroke.key], () => {});
      else holding(stroke.held, () => strike(stroke));
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
   * once. `clear` replaces what is there. Answers what the field is called and holds then.
   */
  function type(key, text, { strokes, clear }) {
    const { fields, target } = callslip;
    const element = key === null ? focus.focused() : target.element(key);
    const said = target.say(element);
    if (key !== null && fields.kindOf(element) === 'form') {
      fields.put(element, clear ? text : element.value + text);
      return { said, ...fields.report(element) };
    }
    const hadFocus = focus.focused() === element;
    if (!hadFocus) giveFocus(element);
    focus.watchFirst(element);
    if (clear) fields.selectAll(element);
    else if (!hadFocus) caretToEnd(element);
    if (clear && text === '') fields.insert(element, '');
    if (strokes) for (const character of text) strike(strokes[character]);
    else fields.insert(element, text);
    return { said, ...fields.report(element) };
  }

  /** Where keys go: `{frame}`, the key of a frame's element, or `{}` for this frame. */
  function place() {
    const element = focus.focused();
    return element.contentWindow ? { frame: callslip.frame_path.keyOf(element) } : {};
  }

  return { giveFocus, place, press, type };
})();
