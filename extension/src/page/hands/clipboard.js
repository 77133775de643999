/* global callslip */
/**
 * Runs in each frame of a page. Copies, cuts and pastes as Chromium does, with the clipboard of an agent
 * instead of the browser's own, which is a person's. The page gets the events first, and may put other
 * content there.
 */
callslip.clipboard = (() => {
  const { editing, focus, keyDefaults, states, transfers } = callslip;
  const INPUT = { bubbles: true, composed: true, view: window };

  /** The content, texts by their types, and the most UTF-16 units that it may have. */
  let content = {};
  let limit = Infinity;

  /** What has come of the last key: `copied`, the new content, and a `note` for the agent. */
  let outcome = {};

  function begin(given, chars) {
    content = given;
    limit = chars;
    outcome = {};
  }

  function takeOutcome() {
    const last = outcome;
    outcome = {};
    return last;
  }

  /**
   * `{at, text}`: the element that gets the events, and the selected text. A selection in the text of the
   * page counts before that in the field that has the focus. Of the fields between its ends it has no
   * values.
   */
  function selected() {
    const element = focus.focused();
    const selection = editing.selectionOf(element);
    const isField = keyDefaults.isTextField(element);
    if (isField && selection.isCollapsed) {
      const { value, selectionStart, selectionEnd } = element;
      const text = selectionStart === null ? String(selection) : value.slice(selectionStart, selectionEnd);
      return { at: element, text };
    }
    const node = selection.rangeCount > 0 ? selection.getRangeAt(0).startContainer : element;
    const at = (node instanceof Element ? node : node.parentElement) ?? element;
    if (selection.isCollapsed) return { at: element.contains(at) ? at : element, text: '' };
    return { at, text: String(selection).replaceAll('\u00a0', ' ') };
  }

  /** Returns whether the page leaves the rest to the browser. */
  function send(type, element, clipboardData) {
    return element.dispatchEvent(new ClipboardEvent(type, {
      bubbles: true, cancelable: true, composed: true, clipboardData,
    }));
  }

  function keep(next) {
    const chars = Object.entries(next).flat().reduce((sum, text) => sum + text.length, 0);
    if (chars > limit) {
      throw new callslip.Failure({
        code: 'result_too_large',
        message: `The clipboard holds ${limit} characters, and the copy would have ${chars}. It was not changed.`,
        hint: 'Select less.',
        mayHaveExecuted: true,
      });
    }
    content = next;
    outcome = { copied: next };
  }

  /** Copies the selection, or cuts it. */
  function take(type) {
    outcome = { note: 'nothing was copied' };
    if (states.isSecret(focus.focused())) return;
    const transfer = new DataTransfer();
    if (!send(type, selected().at, transfer)) {
      const given = transfers.textsOf(transfer);
      if (given.length > 0) keep(Object.fromEntries(given));
      return;
    }
    const { at, text } = selected();
    const element = focus.focused();
    if (text === '' || states.isSecret(element)) return;
    if (type === 'copy') {
      keep({ 'text/plain': text });
      return;
    }
    if (!keyDefaults.isEditable(at) || !editing.ask('deleteByCut')) return;
    keep({ 'text/plain': text });
    callslip.fields.insert(element, '', { ...INPUT, inputType: 'deleteByCut' });
  }

  /**
   * Pastes the text without its formatting: the content may be of another site, and its HTML could have
   * scripts.
   */
  function paste() {
    const transfer = transfers.withTexts(Object.entries(content));
    if (transfer.types.length === 0) outcome = { note: 'the clipboard is empty' };
    if (!send('paste', selected().at, transfer)) return;
    const element = focus.focused();
    const text = content['text/plain'] ?? '';
    if (text === '' || !keyDefaults.isEditable(element)) return;
    const given = focus.isField(element) ? { data: text } : { dataTransfer: transfer };
    // Chromium has no text for what it pastes into an editor.
    if (editing.ask('insertFromPaste', { text: given.data ?? '', ...given })) {
      callslip.fields.insert(element, text, { ...INPUT, inputType: 'insertFromPaste', ...given });
    }
  }

  /** The effect of a key: `copy`, `cut` or `paste`. */
  function act(what) {
    if (what === 'paste') paste();
    else take(what);
  }

  return { act, begin, takeOutcome };
})();
