/* global callslip */
/**
 * Runs in each frame of a page. Drags with the mouse: sends pointer and mouse events, and those of HTML
 * drag and drop if the element is draggable. The service worker waits between the steps, because the
 * browser slows down timers of background tabs. It also calls `over`, `drop` and `leave` in another frame
 * that the mouse comes to: see drag_guest.js.
 */
callslip.drag = (() => {
  const { hitTest, mouse, shadow, target, transfers } = callslip;

  /** The distance after which a browser begins a drag, in CSS pixels. */
  const THRESHOLD = 3;

  /** How far a drag goes beyond the middle of its goal, in CSS pixels. */
  const PASSED = 3;

  let current;

  function draggableAt(element) {
    for (let at = element; at; at = shadow.parentOf(at)) {
      if (at.draggable) return at;
    }
    return null;
  }

  function dragEvent(element, type, { x, y }, { dataTransfer, cancelable = true, relatedTarget = null }) {
    const { flags } = current;
    const init = { ...mouse.init(x, y, { buttons: 1, ...flags }), cancelable, dataTransfer, relatedTarget };
    return !element.dispatchEvent(new DragEvent(type, init));
  }

  /** Presses the button on an element. `capture` names the event that reports a captured pointer. */
  function begin(key, { x, y, capture, how = [] }) {
    const wanted = target.element(key);
    const hit = hitTest.at(x, y);
    const element = hit && shadow.contains(wanted, hit) ? hit : wanted;
    const said = target.say(wanted);
    const flags = { ctrlKey: how.includes('Control'), shiftKey: how.includes('Shift'), altKey: how.includes('Alt') };
    current = { element, from: { x, y }, flags, capture, captured: null, moved: false, html: null };
    current.hear = (event) => {
      const [at] = event.composedPath();
      current.captured = at instanceof Element ? at : null;
    };
    addEventListener(capture, current.hear, true);
    mouse.moveTo(element, x, y, flags);
    const watch = (event) => { current.press = event; };
    addEventListener('mousedown', watch, true);
    current.compatible = mouse.down(element, x, y, flags);
    removeEventListener('mousedown', watch, true);
    const prevented = current.press?.defaultPrevented === true;
    current.source = prevented ? null : draggableAt(element);
    return { said };
  }

  function under({ x, y }) {
    return hitTest.at(x, y) ?? current.captured ?? document.documentElement;
  }

  /** Begins an HTML drag of the draggable element; the page may prevent it. */
  function beginHtml() {
    const dataTransfer = new DataTransfer();
    dataTransfer.effectAllowed = 'all';
    const { source } = current;
    const refused = dragEvent(source, 'dragstart', current.from, { dataTransfer });
    if (refused) {
      current.source = null;
      return;
    }
    const { element, from } = current;
    mouse.send(element, 'pointercancel', mouse.init(from.x, from.y));
    current.html = { dataTransfer, over: null, accepted: false };
  }

  /** Moves what is dragged over the element at a point of this window. */
  function carryTo(point) {
    const { html } = current;
    const { dataTransfer } = html;
    const element = under(point);
    let entered = false;
    if (html.over !== element) {
      entered = dragEvent(element, 'dragenter', point, { dataTransfer, relatedTarget: html.over });
      if (html.over?.isConnected) {
        dragEvent(html.over, 'dragleave', point, { dataTransfer, cancelable: false, relatedTarget: element });
      }
      html.over = element;
    }
    dataTransfer.dropEffect = 'move';
    const over = dragEvent(element, 'dragover', point, { dataTransfer });
    html.accepted = over || entered;
  }

  /** Moves what is dragged out of this window. */
  function carryAway(point) {
    const { html } = current;
    const { dataTransfer, over } = html;
    if (over?.isConnected) dragEvent(over, 'dragleave', point, { dataTransfer, cancelable: false });
    html.over = null;
    html.accepted = false;
  }

  /**
   * True if another frame gets the events at a point: all that are for the goal of HTML drag and drop, and
   * those of a mouse whose button was pressed in the top frame. A frame in another keeps the mouse until
   * the button is released.
   */
  function isElsewhere({ x, y }) {
    const hit = hitTest.at(x, y);
    const isTop = window === window.top;
    if (current.html) return hit ? Boolean(hit.contentWindow) : !isTop;
    return isTop && !current.captured?.isConnected && Boolean(hit?.contentWindow);
  }

  function moveMouse({ x, y }) {
    const { captured, flags } = current;
    const held = { buttons: 1, ...flags };
    if (captured?.isConnected) {
      mouse.send(captured, 'pointermove', { ...mouse.init(x, y, held), button: -1 });
      mouse.send(captured, 'mousemove', mouse.init(x, y, held));
      return;
    }
    const element = under({ x, y });
    mouse.moveTo(element, x, y, held);
  }

  /**
   * Moves the mouse, with its button pressed, to a point of this window. Returns `{isAway, carried}`:
   * whether another frame gets the events there, and the texts of what is dragged; undefined for the mouse
   * alone.
   */
  function move(point) {
    const { from } = current;
    const far = Math.hypot(point.x - from.x, point.y - from.y) >= THRESHOLD;
    if (far && !current.moved) {
      current.moved = true;
      if (current.source) {
        moveMouse(point);
        beginHtml();
      }
    }
    const isAway = isElsewhere(point);
    const { html, source } = current;
    if (html && source.isConnected) dragEvent(source, 'drag', point, html);
    if (!isAway) (html ? carryTo : moveMouse)(point);
    else if (html) carryAway(point);
    current.at = point;
    return { isAway, ...isAway && html && { carried: transfers.textsOf(html.dataTransfer) } };
  }

  /**
   * Moves a drag that began in another frame to a point of this one; `isNew`: it has just come here. Until
   * the drop a page sees only the types of the texts.
   */
  function over(point, carried, isNew) {
    if (isNew) {
      const types = carried?.map(([type]) => [type, '']);
      const html = types && { dataTransfer: transfers.withTexts(types), over: null, accepted: false };
      current = { flags: {}, captured: null, html };
    }
    if (current.html) carryTo(point);
    else moveMouse(point);
  }

  /** Ends a drag that began in another frame: returns `{accepted}`, as `end` does. */
  function drop(point, carried) {
    const { html } = current;
    if (!html) {
      mouse.up(under(point), point.x, point.y);
    } else if (html.accepted) {
      dragEvent(under(point), 'drop', point, { dataTransfer: transfers.withTexts(carried) });
    } else {
      carryAway(point);
    }
    current = undefined;
    return { accepted: html?.accepted };
  }

  /** A drag that began in another frame has left this one. */
  function leave(point) {
    if (current?.html) carryAway(point);
    current = undefined;
  }

  /**
   * Releases the button. Returns `{accepted}`: for HTML drag and drop, whether the element there has
   * accepted the drop. `elsewhere` is what `drop` has returned in the frame where the drag ended, or null.
   */
  function end(elsewhere = null) {
    const { html, source, captured, capture, compatible, flags, element } = current;
    const point = current.at ?? current.from;
    let accepted;
    if (html) {
      const { dataTransfer } = html;
      accepted = elsewhere ? elsewhere.accepted : html.accepted;
      if (!elsewhere && accepted) dragEvent(under(point), 'drop', point, { dataTransfer });
      if (!accepted) carryAway(point);
      if (!accepted) dataTransfer.dropEffect = 'none';
      if (source.isConnected) dragEvent(source, 'dragend', point, { dataTransfer, cancelable: false });
    } else if (!elsewhere) {
      const over = captured?.isConnected ? captured : under(point);
      mouse.up(over, point.x, point.y, { compatible, ...flags });
      if (captured?.isConnected) mouse.send(captured, 'lostpointercapture', mouse.init(point.x, point.y));
      clickAround(element, over, point);
    }
    removeEventListener(capture, current.hear, true);
    dispatchEvent(new Event(`${capture}-end`));
    current = undefined;
    return { accepted };
  }

  /**
   * Releases the button before the end of the drag that `capture` names: nothing is dropped, nothing
   * clicked.
   */
  function cancel(capture) {
    if (current?.capture === capture) {
      const { html, source, captured, compatible, flags, hear } = current;
      const point = current.at ?? current.from;
      if (html) {
        const { dataTransfer } = html;
        dataTransfer.dropEffect = 'none';
        carryAway(point);
        if (source.isConnected) dragEvent(source, 'dragend', point, { dataTransfer, cancelable: false });
      } else {
        const over = captured?.isConnected ? captured : under(point);
        mouse.up(over, point.x, point.y, { compatible, ...flags });
        if (captured?.isConnected) mouse.send(captured, 'lostpointercapture', mouse.init(point.x, point.y));
      }
      removeEventListener(capture, hear, true);
      current = undefined;
    }
    dispatchEvent(new Event(`${capture}-end`));
  }

  /** The browser clicks on the element that contains both the point of the press and that of the release. */
  function clickAround(pressed, released, { x, y }) {
    if (!pressed.isConnected) return;
    let common = released;
    while (common && !shadow.contains(common, pressed)) common = shadow.parentOf(common);
    if (!common) return;
    const init = { ...mouse.init(x, y, { detail: 1 }), pointerId: 1, pointerType: 'mouse', isPrimary: true };
    common.dispatchEvent(new PointerEvent('click', init));
  }

  /**
   * The point on an element, possibly out of view, where a drag from a point ends: slightly beyond its
   * middle. Lists let items change places once the middle has been passed.
   */
  function goal(key, from) {
    const element = target.element(key);
    const { left, top, width, height } = hitTest.boxOf(element) ?? element.getBoundingClientRect();
    const [x, y] = [left + width / 2, top + height / 2];
    const beyond = (way, size) => Math.sign(Math.round(way)) * Math.min(PASSED, size / 8);
    return {
      x: x + beyond(x - from.x, width), y: y + beyond(y - from.y, height), said: target.say(element),
    };
  }

  return { begin, cancel, drop, end, goal, leave, move, over };
})();
