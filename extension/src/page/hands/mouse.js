/* global callslip, callslipCutText */
/** Runs in each frame of a page. Sends mouse events in the same order as a browser. */
callslip.mouse = (() => {
  const { focus, shadow, states } = callslip;
  const BUTTONS = { left: [0, 1], middle: [1, 4], right: [2, 2] };

  /** The last element under the mouse, for the events of leaving it. */
  let over = null;

  function init(x, y, { button = 0, buttons = 0, detail = 0, ...flags } = {}) {
    return {
      bubbles: true, cancelable: true, composed: true, view: window,
      clientX: x, clientY: y, screenX: x + screenX, screenY: y + screenY,
      button, buttons, detail, ...flags,
    };
  }

  function pointer(given) {
    const pressure = given.buttons ? 0.5 : 0;
    return { ...given, detail: 0, pointerId: 1, pointerType: 'mouse', isPrimary: true, width: 1, height: 1, pressure };
  }

  function send(element, type, given) {
    const event = type.startsWith('pointer')
      ? new PointerEvent(type, pointer(given)) : new MouseEvent(type, given);
    return element.dispatchEvent(event);
  }

  function around(element) {
    const list = [];
    for (let at = element; at; at = shadow.parentOf(at)) list.push(at);
    return list;
  }

  /**
   * Moves the mouse to a point, which is on the element, and sends the events of leaving and entering
   * elements.
   */
  function moveTo(element, x, y, given = {}) {
    const from = over?.isConnected ? over : null;
    const at = { ...init(x, y, given), button: given.buttons ? 0 : -1 };
    const mouse = { ...at, button: 0 };
    if (from !== element) {
      const left = from ? around(from) : [];
      const entered = around(element);
      const within = (type, list, relatedTarget) => {
        for (const kind of ['pointer', 'mouse']) {
          const base = kind === 'pointer' ? at : mouse;
          for (const each of list) {
            send(each, kind + type, { ...base, bubbles: false, cancelable: false, relatedTarget });
          }
        }
      };
      if (from) {
        send(from, 'pointerout', { ...at, relatedTarget: element });
        send(from, 'mouseout', { ...mouse, relatedTarget: element });
        within('leave', left.filter((each) => !entered.includes(each)), element);
      }
      send(element, 'pointerover', { ...at, relatedTarget: from });
      send(element, 'mouseover', { ...mouse, relatedTarget: from });
      within('enter', entered.filter((each) => !left.includes(each)).reverse(), from);
      over = element;
    }
    send(element, 'pointermove', { ...at, button: -1 });
    send(element, 'mousemove', mouse);
  }

  /**
   * Presses a button, and moves the focus as a press does. True unless the page has prevented pointerdown.
   */
  function down(element, x, y, { name = 'left', detail = 1, ...flags } = {}) {
    const [button, buttons] = BUTTONS[name];
    const given = init(x, y, { button, buttons, detail, ...flags });
    const compatible = send(element, 'pointerdown', given);
    // A page that prevents pointerdown gets no mouse events until the button is released.
    const goesOn = !compatible || send(element, 'mousedown', given);
    if (compatible && goesOn) focus.giveByMouse(element);
    return compatible;
  }

  function up(element, x, y, { name = 'left', detail = 1, compatible = true, ...flags } = {}) {
    const [button] = BUTTONS[name];
    const given = init(x, y, { button, detail, ...flags });
    send(element, 'pointerup', given);
    if (compatible) send(element, 'mouseup', given);
  }

  function flagsOf(how) {
    return {
      ctrlKey: how.includes('Control'), shiftKey: how.includes('Shift'),
      altKey: how.includes('Alt'), metaKey: how.includes('Meta'),
    };
  }

  function finish(element, x, y, detail, name, flags) {
    const [button] = BUTTONS[name];
    const given = { ...pointer(init(x, y, { button, ...flags })), detail };
    if (name === 'left') return element.dispatchEvent(new PointerEvent('click', given));
    if (name === 'right') return element.dispatchEvent(new PointerEvent('contextmenu', given));
    return element.dispatchEvent(new PointerEvent('auxclick', given));
  }

  /** The readable text of an element; never a secret value. */
  function textOf(element) {
    if (states.isSecret(element)) return '';
    return (element.innerText ?? element.textContent ?? '').trim();
  }

  /**
   * Clicks on an element, in the innermost one at the point. `how` is a list of words: `double`, `right`,
   * `middle`, `force`, and modifier keys. Returns a description of the element before the click, and
   * `clicks`, the number of clicks: as for a person, there is none if the page removes the element while
   * the button is pressed.
   */
  function click(key, { x, y, how = [] }) {
    const wanted = callslip.target.element(key);
    const hit = callslip.hitTest.at(x, y);
    const label = hit?.closest('label');
    const isReached = hit && (shadow.contains(wanted, hit) || label?.control === wanted);
    const element = isReached ? hit : wanted;
    const said = callslip.target.say(wanted);
    const tag = wanted.localName;
    const text = textOf(wanted) || (!states.isSecret(wanted) && wanted.value) || '';
    if (wanted instanceof HTMLOptionElement) {
      callslip.fields.choose(wanted);
      return { said, tag, text, clicks: 1 };
    }
    const name = ['right', 'middle'].find((each) => how.includes(each)) ?? 'left';
    const flags = flagsOf(how);
    moveTo(element, x, y, flags);
    let clicks = 0;
    for (let detail = 1; detail <= (how.includes('double') ? 2 : 1) && clicks === detail - 1; detail += 1) {
      // The page may have removed it at the first of two.
      if (detail === 2 && !element.isConnected) break;
      const compatible = down(element, x, y, { name, detail, ...flags });
      const target = element.isConnected ? element : callslip.hitTest.at(x, y) ?? document.body;
      up(target, x, y, { name, detail, compatible, ...flags });
      if (target === element) {
        finish(element, x, y, detail, name, flags);
        clicks += 1;
      }
      if (detail === 2 && element.isConnected) send(element, 'dblclick', init(x, y, { detail, ...flags }));
    }
    return { said, tag, text: callslipCutText(text, 200), clicks };
  }

  function hover(key, { x, y }) {
    const wanted = callslip.target.element(key);
    const hit = callslip.hitTest.at(x, y);
    const text = callslipCutText(textOf(wanted), 200);
    moveTo(hit && shadow.contains(wanted, hit) ? hit : wanted, x, y);
    return { said: callslip.target.say(wanted), tag: wanted.localName, text };
  }

  return { click, down, hover, init, moveTo, send, up };
})();
