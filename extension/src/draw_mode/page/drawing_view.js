'use strict';
/** Shows the marks above the page, at their places in it. */
{
  const { arrowHead, distance, html, svg } = callslipDraw;

  const HEAD_SIZE = 16;

  /** Draws each line twice, with a wide light one beneath, so that it is visible on every background. */
  function twice(tag, attributes) {
    return ['casing', 'ink'].map((name) => svg(tag, { ...attributes, class: name }));
  }

  function rectangle({ rect }) {
    return twice('rect', { ...rect, rx: 4 });
  }

  function arrow({ from, to }) {
    const size = Math.min(HEAD_SIZE, distance(from, to));
    const head = arrowHead(from, to, size).map(({ x, y }) => `${x},${y}`).join(' ');
    return [
      ...twice('line', { x1: from.x, y1: from.y, x2: to.x, y2: to.y }),
      svg('polygon', { points: head, class: 'head' }),
    ];
  }

  const SHAPES = { rectangle, arrow, text: () => [] };

  /** The number of a mark and its note, at the corner where the person began it. */
  function label(mark, number) {
    const { x, y } = mark.from ?? mark.rect;
    const parts = [html('b', {}, String(number))];
    if (mark.note) parts.push(html('span', {}, mark.note));
    const tag = html('div', { class: `label ${mark.kind}` }, ...parts);
    tag.style.left = `${x}px`;
    tag.style.top = `${y}px`;
    return tag;
  }

  function createDrawingView() {
    const shapes = svg('g');
    const labels = html('div', { class: 'labels' });
    const picture = svg('svg', { 'aria-hidden': 'true' }, shapes);
    const node = html('div', { class: 'drawing' }, picture, labels);
    return {
      node,

      /** `draft` is the mark that is being drawn, without a number yet. */
      show(marks, draft) {
        const drawn = draft ? [...marks, draft] : marks;
        shapes.replaceChildren(...drawn.flatMap((mark) => SHAPES[mark.kind](mark)));
        labels.replaceChildren(...marks.map((mark, index) => label(mark, index + 1)));
        this.scroll();
      },

      /** Moves the marks with the page. */
      scroll() {
        shapes.setAttribute('transform', `translate(${-scrollX} ${-scrollY})`);
        labels.style.transform = `translate(${-scrollX}px, ${-scrollY}px)`;
      },
    };
  }

  Object.assign(callslipDraw, { createDrawingView });
}
