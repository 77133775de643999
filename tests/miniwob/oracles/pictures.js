/** Tasks in pictures, where only the positions of elements are known. */

const middle = ({ x, y }) => `${Math.round(x)},${Math.round(y)}`;
const at = ({ x, y }) => ({ x: Math.round(x), y: Math.round(y) });

export async function drawLine(player) {
  const [, way] = /a (horizontal|vertical) line/.exec(player.task);
  const [paper] = await player.query({ selector: 'svg' });
  const [dot] = await player.query({ selector: 'svg circle' });
  const { x, y, width, height } = paper.bounds;
  const ends = way === 'horizontal'
    ? [{ x: x + 10, y: dot.y }, { x: x + width - 10, y: dot.y }]
    : [{ x: dot.x, y: y + 10 }, { x: dot.x, y: y + height - 10 }];
  await player.act('drag', { ...at(ends[0]), to: middle(ends[1]) });
  await player.click(player.ref('button Submit'));
}

/** The angle at a corner between two points, in radians. */
function angle(corner, one, other) {
  const way = (to) => Math.atan2(to.y - corner.y, to.x - corner.x);
  const between = Math.abs(way(one) - way(other));
  return Math.min(between, 2 * Math.PI - between);
}

export async function bisectAngle(player) {
  const [paper] = await player.query({ selector: '#svg-grid' });
  const circles = await player.query({ selector: '#svg-grid circle' });
  const corner = circles.find(({ selector }) => selector.includes('init-blue')) ?? circles[0];
  const [one, other] = circles.filter((each) => each !== corner);
  const { x: left, y: top, width, height } = paper.bounds;
  let best;
  for (let x = left + 5; x < left + width - 5; x += 1) {
    for (let y = top + 5; y < top + height - 5; y += 1) {
      const worst = Math.max(angle(corner, one, { x, y }), angle(corner, other, { x, y }));
      if (!best || worst < best.worst) best = { x, y, worst };
    }
  }
  await player.act('click', at(best));
  await player.click(player.ref('button Submit'));
}

const TAGS = { rectangles: 'rect', circles: 'circle', triangles: 'polygon' };

export async function dragShapes(player) {
  const [, shape] = /^Drag all (\w+) into/.exec(player.task);
  const shapes = await player.query({ selector: '#area_svg > *' });
  const box = shapes.find(({ attributes }) => attributes.id === 'shape-container');
  for (const each of shapes) {
    if (each === box || each.tag !== TAGS[shape]) continue;
    await player.act('drag', { ...at(each), to: middle(box) });
  }
  await player.click(player.ref('button Submit'));
}

/** How often the position of a moving element is read. */
const LOOKS = 20;

/** The element with this text, once two reads find it in the same place. */
async function standing(player, selector, wanted) {
  let before;
  for (let look = 0; look < LOOKS; look += 1) {
    const found = (await player.query({ selector })).find(({ text }) => text === wanted);
    if (before && middle(before) === middle(found)) break;
    before = found;
  }
  return before;
}

export async function clickPie(player) {
  const [, label] = /item labeled "(.*)"\.$/.exec(player.task);
  await player.click(player.ref('click +'));
  const known = player.things().find(({ role, name }) => role === 'click' && name === label);
  if (known) return player.click(known.ref);
  // The initially selected item is only a text, without a ref.
  const { x, y } = await standing(player, '#divWheel tspan', label);
  return player.act('click', at({ x, y }));
}
