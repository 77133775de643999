'use strict';
/** The tool bar: the agent's message, the tools, and the buttons to finish or cancel. */
{
  const { html, svg } = callslipDraw;

  const line = (d) => svg('path', { d });

  const TOOLS = [
    ['rectangle', 'Rectangle', 'R', () => line('M3 5h14v10H3z')],
    ['arrow', 'Arrow', 'A', () => line('M4 16 15 5M8 5h7v7')],
    ['text', 'Text', 'T', () => line('M4 5h12M10 5v11')],
  ];

  const HINTS = {
    rectangle: 'Drag to draw a box around an area.',
    arrow: 'Drag to draw an arrow to an item.',
    text: 'Click where you want the note.',
  };

  function button(name, text, key, icon, className = '') {
    const node = html('button', {
      type: 'button', 'data-do': name, title: `${text} (${key})`, class: className,
      'aria-keyshortcuts': key.replace('Ctrl', 'Control').replace('Esc', 'Escape'),
    });
    if (icon) node.append(svg('svg', { viewBox: '0 0 20 20', 'aria-hidden': 'true' }, icon));
    node.append(html('span', {}, text));
    return node;
  }

  /** The bar handles no events; the action of each button is in its `data-do`. */
  function createToolBar() {
    const said = html('p', { class: 'message' });
    const tools = TOOLS.map(([name, text, key, icon]) => button(name, text, key, icon()));
    const undo = button('undo', 'Undo', 'Ctrl+Z', line('M7 4 3 8l4 4M3 8h8a5 5 0 0 1 0 10H8'));
    const cancel = button('cancel', 'Cancel', 'Esc');
    const done = button('done', 'Done', 'Enter', null, 'main');
    const state = html('p', { class: 'state', role: 'status' });
    const row = html('div', { class: 'row' }, ...tools, html('i'), undo, html('i'), cancel, done);
    const node = html('div', { class: 'bar', role: 'toolbar', 'aria-label': 'Draw on this page' },
      said, row, state);
    let notice = '';
    return {
      node,
      buttons: () => [...row.querySelectorAll('button:not(:disabled)')],

      /** Shows a notice instead of the hint; an empty text restores the hint. */
      say(text) {
        notice = text;
        if (text) state.textContent = text;
      },

      show({ tool, count, message = '', busy }) {
        said.textContent = message;
        // Setting the same text again would make screen readers repeat it.
        const words = notice || HINTS[tool];
        if (state.textContent !== words) state.textContent = words;
        for (const each of tools) {
          each.setAttribute('aria-pressed', String(each.dataset.do === tool));
        }
        undo.disabled = count === 0;
        done.querySelector('span').textContent = count ? `Done (${count})` : 'Done';
        for (const each of row.querySelectorAll('button')) {
          each.disabled = busy || (each === undo && count === 0);
        }
      },

      /** Moves the bar by the given distance, but not out of the window. */
      moveBy(dx, dy) {
        const { left, top, width, height } = node.getBoundingClientRect();
        const within = (at, room) => Math.max(0, Math.min(at, Math.max(0, room)));
        node.style.left = `${within(left + dx, innerWidth - width)}px`;
        node.style.top = `${within(top + dy, innerHeight - height)}px`;
        node.style.translate = 'none';
      },
    };
  }

  Object.assign(callslipDraw, { createToolBar });
}
