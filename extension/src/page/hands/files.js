/* global callslip */
/**
 * Puts files into a page: into a file input, or onto an area that accepts dropped files. They arrive in
 * pieces, because a message to the page has a size limit: `begin`, `add` for each piece, `put`.
 */
callslip.files = (() => {
  /** Elements that open the browser's file chooser for a hidden input. */
  const OPENERS = ['button', 'a', 'label', 'input:not([type=file])', '[role=button]', '[role=link]', '[tabindex]']
    .map((each) => `${each}:not([type=submit], [type=reset])`).join();

  /** Those among them that could open the chooser of an input near them instead of another element. */
  const RIVALS = ['button', 'a:is(:not([href]), [href^="#"], [href^="javascript:"])', 'input:is([type=button], [type=image])',
    '[role=button]', '[role=link]', '[tabindex]'].map((each) => `${each}:not([type=submit], [type=reset])`).join();

  /** How many levels around such an element are searched for its input. */
  const LEVELS = 4;

  /** How many of several inputs an error names, and how much of each name. */
  const NAMED = 5;
  const NAME_CHARS = 80;

  let upload = null;

  const { shadow } = callslip;

  const isInput = (element) => element?.localName === 'input' && element.type === 'file';

  const within = (element, selector) => shadow.queryAll(selector)
    .filter((each) => shadow.contains(element, each));

  const inputsIn = (element) => within(element, 'input[type=file]');

  /** Whether another element within `around` could open the chooser as well. */
  function hasRival(opener, around) {
    return within(around, RIVALS).some((each) => each !== around && !shadow.contains(each, opener)
      && !shadow.contains(opener, each) && !callslip.target.hiddenBecause(each));
  }

  /** The only input near an element that opens its chooser; null if that is not certain. */
  function inputNear(element) {
    const opener = element.closest(OPENERS);
    let around = opener;
    for (let level = 0; around && level < LEVELS; level += 1) {
      around = shadow.parentOf(around);
      if (!around || hasRival(opener, around)) return null;
      const inputs = inputsIn(around);
      if (inputs.length > 0) return inputs.length === 1 ? inputs[0] : null;
    }
    return null;
  }

  /** The file input of an element: the element itself, that of its label, one within it, or one near it. */
  function inputOf(element) {
    if (isInput(element)) return element;
    const label = element.closest('label');
    if (isInput(label?.control)) return label.control;
    const inputs = inputsIn(element);
    if (inputs.length > 1) {
      refuse('several_match', `${inputs.length} file inputs are in ${callslip.target.say(element)}: `
        + `${inputs.slice(0, NAMED).map(sayInput).join('; ')}`, 'Name the one that is meant.');
    }
    return inputs[0] ?? inputNear(element);
  }

  /** The description of an input. A hidden one has no ref, and often no name of its own. */
  function sayInput(input) {
    const { guard, refs, target } = callslip;
    const said = input.id ? `#${input.id}` : input.name && `[name=${input.name}]`;
    if (refs.of(input) || !said) return target.say(input);
    return guard.inner(guard.cut(`input${said.replace(/\s+/g, ' ')}`, NAME_CHARS));
  }

  function refuse(code, message, hint, mayHaveExecuted = false) {
    throw new callslip.Failure({ code, message, hint, mayHaveExecuted });
  }

  function checkInput(input, count) {
    if (input.matches(':disabled')) {
      refuse('element_disabled', 'The file input is disabled.', 'See what enables it.');
    }
    if (count > 1 && !input.multiple) {
      refuse('invalid_params', 'files: the input takes one file only', 'Name one file.');
    }
  }

  function checkZone(element, said) {
    const hidden = callslip.target.hiddenBecause(element);
    if (hidden) refuse('element_hidden', `${said} cannot be seen: ${hidden}.`);
  }

  /**
   * Begins an upload of files, each `{name, mime_type}`, to an element. Returns `{said, into}`: the
   * description of the element, and the input that gets the files if that is a different one; `{said,
   * isDrop}` if there is none, and they will be dropped on the element.
   */
  function begin(key, files) {
    const { target } = callslip;
    const element = target.element(key);
    const said = target.say(element);
    const input = inputOf(element);
    if (input) checkInput(input, files.length);
    else checkZone(element, said);
    upload = { element, input, files: files.map((file) => ({ ...file, pieces: [] })) };
    if (!input) return { said, isDrop: true };
    return input === element ? { said } : { said, into: sayInput(input) };
  }

  /** Adds a piece, in base64, to one of the files. */
  function add(index, base64) {
    const text = atob(base64);
    const bytes = new Uint8Array(text.length);
    for (let i = 0; i < text.length; i += 1) bytes[i] = text.charCodeAt(i);
    upload.files[index].pieces.push(bytes);
  }

  function transferOf(files) {
    const transfer = new DataTransfer();
    for (const { name, mime_type: type, pieces } of files) {
      transfer.items.add(new File(pieces, name, { type, lastModified: Date.now() }));
    }
    return transfer;
  }

  function drop(element, dataTransfer) {
    const { left, top, width, height } = element.getBoundingClientRect();
    const send = (type) => element.dispatchEvent(new DragEvent(type, {
      bubbles: true,
      cancelable: true,
      composed: true,
      dataTransfer,
      clientX: left + width / 2,
      clientY: top + height / 2,
    }));
    const entered = !send('dragenter');
    const taken = !send('dragover') || entered;
    if (!taken) {
      send('dragleave');
      refuse('not_editable', 'No one file input belongs to the element, and it takes no dropped files.',
        'Name the input, by CSS where nobody sees it, its label or button, or the place that files are dropped on.', true);
    }
    send('drop');
  }

  /** Delivers the added files to the page. */
  function put() {
    const { element, input, files } = upload;
    upload = null;
    const transfer = transferOf(files);
    if (!(input ?? element).isConnected) {
      refuse('element_not_found', 'The element went away before the files were there.');
    }
    if (!input) return drop(element, transfer);
    input.files = transfer.files;
    for (const type of ['input', 'change']) {
      input.dispatchEvent(new Event(type, { bubbles: true, composed: type === 'input' }));
    }
    return undefined;
  }

  return { begin, add, put };
})();
