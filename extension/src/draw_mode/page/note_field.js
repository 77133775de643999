'use strict';
/** The field for the note on one mark, next to it. Only one is open at a time. */
{
  const { html, placeBeside, shifted } = callslipDraw;

  const GAP = 10;

  /** Calls `closed(mark)` when the note of a mark is final. */
  function createNoteField({ noteChars, closed }) {
    const hint = 'Add a note (Enter: save, Esc: cancel)';
    const field = html('textarea', {
      rows: 2, maxlength: noteChars, placeholder: hint, 'aria-label': 'Note for the mark',
    });
    const node = html('div', { class: 'note', hidden: '' }, field);
    let open = null;
    let before = '';

    function close(text) {
      const mark = open;
      if (!mark) return;
      open = null;
      mark.note = text;
      node.hidden = true;
      field.blur();
      closed(mark);
    }

    return {
      node,
      field,
      get isOpen() {
        return open !== null;
      },

      open(mark) {
        open = mark;
        before = mark.note;
        field.value = mark.note;
        node.hidden = false;
        this.place();
        field.focus({ preventScroll: true });
      },

      /** Moves the field with the page. */
      place() {
        if (!open) return;
        const box = shifted(open.rect, -scrollX, -scrollY);
        const view = { width: innerWidth, height: innerHeight };
        const size = { width: node.offsetWidth, height: node.offsetHeight };
        const { x, y } = placeBeside(box, size, view, GAP);
        node.style.left = `${x}px`;
        node.style.top = `${y}px`;
      },

      /** Writes the text typed so far into the mark. */
      save() {
        if (open) open.note = field.value.trim();
      },

      keep: () => close(field.value.trim()),
      drop: () => close(before),
    };
  }

  Object.assign(callslipDraw, { createNoteField });
}
