/* global callslip */
/**
 * Runs in each frame of a page. Edits at the selection as Chromium does for keys. The page first gets
 * `beforeinput`, and for text also `textInput`, and may edit instead of the browser: editors that keep a
 * document of their own do. Chromium fires neither for its editing commands.
 */
callslip.editing = (() => {
  const { focus } = callslip;

  /** Chromium's command for each type of input. */
  const COMMANDS = {
    insertText: 'insertText',
    insertLineBreak: 'insertLineBreak',
    insertParagraph: 'insertParagraph',
    deleteContentBackward: 'delete',
    deleteContentForward: 'forwardDelete',
    deleteWordBackward: 'delete',
    deleteWordForward: 'forwardDelete',
    historyUndo: 'undo',
    historyRedo: 'redo',
  };

  /** What is erased if nothing is selected. */
  const ERASED = {
    deleteContentBackward: ['backward', 'character'],
    deleteContentForward: ['forward', 'character'],
    deleteWordBackward: ['backward', 'word'],
    deleteWordForward: ['forward', 'word'],
  };

  /** The selection of the document, or that of the shadow tree in which the element is. */
  function selectionOf(element) {
    return element.getRootNode().getSelection();
  }

  /** The ranges of an editor that an edit replaces; fields have none. */
  function targetRanges(element, inputType) {
    const selection = selectionOf(element);
    if (focus.isField(element) || !element.isContentEditable || selection.rangeCount === 0) return [];
    const { anchorNode, anchorOffset, focusNode, focusOffset, isCollapsed } = selection;
    const isErasing = isCollapsed && inputType in ERASED;
    if (isErasing) selection.modify('extend', ...ERASED[inputType]);
    const range = new StaticRange(selection.getRangeAt(0));
    if (isErasing) selection.setBaseAndExtent(anchorNode, anchorOffset, focusNode, focusOffset);
    return [range];
  }

  /**
   * Sends the events of an edit to the focused element: `text` is what `textInput` has, which an edit that
   * inserts nothing does not send; `data` and `dataTransfer` are members of `beforeinput`. Returns whether
   * the page leaves the edit to the browser.
   */
  function ask(inputType, { text, data = null, dataTransfer = null } = {}) {
    const element = focus.focused();
    const isLeft = element.dispatchEvent(new InputEvent('beforeinput', {
      inputType, data, dataTransfer, targetRanges: targetRanges(element, inputType),
      bubbles: true, cancelable: true, composed: true, view: window,
    }));
    if (!isLeft || text === undefined) return isLeft;
    const entered = document.createEvent('TextEvent');
    entered.initTextEvent('textInput', true, true, window, text);
    return focus.focused().dispatchEvent(entered);
  }

  /** Runs the browser's command for an edit that the page has left to it. */
  function run(inputType, text) {
    const selection = selectionOf(focus.focused());
    if (inputType.startsWith('deleteWord') && selection.isCollapsed) {
      selection.modify('extend', ...ERASED[inputType]);
    }
    document.execCommand(COMMANDS[inputType], false, text);
  }

  /** Edits, unless the page prevents it; `text` as in `ask`. */
  function edit(inputType, text) {
    if (ask(inputType, { text })) run(inputType);
  }

  return { ask, edit, run, selectionOf };
})();
