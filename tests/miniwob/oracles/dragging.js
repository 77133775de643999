/** Tasks that move elements. */

const nth = (list, place) => `${list} > li:nth-of-type(${place + 1})`;
const texts = async (player, selector) =>
  (await player.query({ selector })).map(({ text }) => text.trim());

export async function dragBox(player) {
  const boxes = await player.query({ selector: '#draggable > div' });
  const [small, large] = boxes.toSorted((a, b) => a.bounds.width - b.bounds.width);
  await player.act('drag', { selector: small.selector, to: large.selector });
  await player.click(player.ref('button Submit'));
}

export async function dragSortNumbers(player) {
  const numbers = (await texts(player, '#sortable > li')).map(Number);
  for (let place = 0; place < numbers.length; place += 1) {
    const least = numbers.indexOf(Math.min(...numbers.slice(place)), place);
    if (least === place) continue;
    await player.act('drag', { selector: nth('#sortable', least), to: nth('#sortable', place) });
    numbers.splice(place, 0, ...numbers.splice(least, 1));
  }
  await player.click(player.ref('button Submit'));
}

export async function dragItems(player) {
  const [, name, where] = /^Drag (.*?) (to the .*|down by one .*|up by one .*)\.$/.exec(player.task);
  const names = await texts(player, '#sortable > li');
  const from = names.indexOf(name);
  const places = {
    'to the top': 0, 'to the bottom': names.length - 1,
    'down by one position': from + 1, 'up by one position': from - 1,
  };
  const place = places[where] ?? Number(/\d+/.exec(where)[0]) - 1;
  await player.act('drag', { selector: nth('#sortable', from), to: nth('#sortable', place) });
}

export async function resizeTextarea(player) {
  const [, side, change] = /the (width|height) is (smaller|larger)/.exec(player.task);
  const by = change === 'larger' ? '+15' : '-15';
  const to = side === 'width' ? `${by},+0` : `+0,${by}`;
  await player.act('drag', { selector: '.ui-resizable-se', to });
  await player.click(player.ref('button Submit'));
}
