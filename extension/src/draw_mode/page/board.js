'use strict';
/**
 * Draw mode in one page: combines the parts of this folder, keeps the state of the tools, and reports every
 * change to the service worker.
 */
{
  const {
    createDrawingView, createInput, createMarks, createNoteField, createPose, createToolBar,
    describeElement, elementBeneath, html, middleOf, nearestIn, overlayStyles, shieldEvents,
  } = callslipDraw;

  const HOST = 'callslip-draw-mode';

  /** Puts the overlay above everything, including dialogs and full-screen content. */
  function raise(host) {
    // Elements outside a modal dialog cannot be clicked, so the overlay goes into the dialog.
    const modal = [...document.querySelectorAll('dialog:modal')].at(-1);
    const parent = modal ?? document.documentElement;
    if (host.parentNode !== parent) parent.append(host);
    if (host.matches(':popover-open')) host.hidePopover();
    host.showPopover();
  }

  /** The target element of a mark: beneath its middle, or beneath the tip of the arrow. */
  function elementOf(mark, host) {
    const aim = mark.to ?? middleOf(mark.rect);
    const view = { x: 0, y: 0, width: innerWidth - 1, height: innerHeight - 1 };
    return elementBeneath(host, nearestIn(view, { x: aim.x - scrollX, y: aim.y - scrollY }));
  }

  function reasonOf(error) {
    const gone = /context invalidated|receiving end|undefined/i.test(error.message);
    return gone ? 'The extension was restarted. Reload the page to draw again.' : error.message;
  }

  /**
   * Opens the board. `given` is `{id, message, annotations, limits}`; `send(what, details)` sends a message
   * to the service worker and rejects if that failed.
   */
  function openBoard({ id, message, annotations, limits }, send) {
    for (const other of document.querySelectorAll(HOST)) other.remove();
    const marks = createMarks(annotations);
    const host = html(HOST, { popover: 'manual' });
    const root = host.attachShadow({ mode: 'closed' });
    root.adoptedStyleSheets = [overlayStyles()];
    const view = createDrawingView();
    const bar = createToolBar();
    const note = createNoteField({ noteChars: limits.noteChars, closed: noteClosed });
    const stage = html('div', { class: 'stage' }, view.node, note.node, bar.node);
    root.append(stage);
    const pose = createPose({ host, marks, patienceMs: limits.paintPatienceMs });

    let tool = 'rectangle';
    let draft = null;
    let busy = false;

    function render() {
      view.show(marks.all, draft);
      bar.show({ tool, count: marks.all.length, message, busy });
      stage.classList.toggle('drafting', draft !== null);
    }

    function state() {
      marks.follow();
      return {
        url: location.href,
        title: document.title,
        annotations: marks.all,
        viewport: {
          width: innerWidth,
          height: innerHeight,
          scroll_x: Math.round(scrollX),
          scroll_y: Math.round(scrollY),
          device_pixel_ratio: devicePixelRatio,
        },
      };
    }

    let typing = 0;
    function changed() {
      clearTimeout(typing);
      render();
      send('changed', state()).catch((error) => bar.say(reasonOf(error)));
    }

    function noteClosed(mark) {
      if (mark.kind === 'text' && !mark.note) marks.remove(mark);
      changed();
    }

    /**
     * Ends draw mode once the service worker has the data. The second attempt restarts the service worker
     * if necessary.
     */
    async function leave(what, details) {
      if (busy) return;
      busy = true;
      render();
      try {
        await send(what, details).catch(() => send(what, details));
        close();
      } catch (error) {
        if (what === 'cancel') return close();
        busy = false;
        pose.release();
        render();
        bar.say(reasonOf(error));
      }
    }

    const board = {
      get tool() { return tool; },
      get busy() { return busy; },

      choose(name) {
        note.keep();
        tool = name;
        bar.say('');
        render();
      },

      mayDraw() {
        note.keep();
        const full = marks.all.length >= limits.annotations;
        bar.say(full ? `A drawing can have at most ${limits.annotations} marks.` : '');
        return !full;
      },

      sketch(mark) {
        draft = mark;
        render();
      },

      add(fields) {
        const anchor = elementOf(fields, host);
        const element = anchor && describeElement(anchor, limits);
        const mark = marks.add(element ? { ...fields, element } : fields, anchor);
        changed();
        note.open(mark);
      },

      /** Saves the text of a note while it is typed, at each pause. */
      typed() {
        note.save();
        clearTimeout(typing);
        typing = setTimeout(changed, limits.typingPauseMs);
      },

      act: {
        rectangle: () => board.choose('rectangle'),
        arrow: () => board.choose('arrow'),
        text: () => board.choose('text'),
        undo() {
          note.drop();
          if (marks.all.length > 0) marks.remove(marks.all.at(-1));
          bar.say('');
          changed();
        },
        done() {
          note.keep();
          return leave('done', state());
        },
        cancel: () => leave('cancel', {}),
      },
    };

    let frame = 0;
    function followPage() {
      marks.follow();
      render();
      note.place();
    }
    function followSoon() {
      cancelAnimationFrame(frame);
      frame = requestAnimationFrame(followPage);
    }

    const stop = new AbortController();
    const { signal } = stop;
    const watcher = new MutationObserver(() => host.isConnected || comeBack());

    function comeBack() {
      raise(host);
      if (note.isOpen) note.field.focus({ preventScroll: true });
    }

    function close() {
      stop.abort();
      watcher.disconnect();
      clearTimeout(typing);
      cancelAnimationFrame(frame);
      pose.release();
      host.remove();
      if (callslipDraw.board?.id === id) delete callslipDraw.board;
    }

    raise(host);
    for (const parent of [document, document.documentElement]) {
      watcher.observe(parent, { childList: true });
    }
    shieldEvents(host, createInput({ host, root, stage, bar, note, board }), signal);
    const capture = { capture: true, signal };
    addEventListener('scroll', followSoon, capture);
    addEventListener('resize', followSoon, capture);
    // Each of these events may have put something above the overlay, or removed its dialog.
    for (const type of ['toggle', 'close', 'fullscreenchange']) {
      addEventListener(type, ({ target }) => target === host || comeBack(), capture);
    }
    // Keys that are typed into a frame never reach this document.
    if (document.activeElement?.localName === 'iframe') document.activeElement.blur();
    followPage();

    return {
      id,
      close,
      state,
      hold: (markId) => pose.hold(markId),
      say(text) {
        message = text;
        render();
      },
    };
  }

  Object.assign(callslipDraw, { openBoard });
}
