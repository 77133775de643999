/** Tasks that find an item in lists, menus, tabs and trees. */

export async function clickScrollList(player) {
  const [, names] = /^Select (.*) from the scroll list/.exec(player.task);
  const list = player.ref(/^listbox/);
  await player.batch(['fill', { [list]: names.split(', ') }], ['click', player.ref('button Submit')]);
}

const ICONS = {
  disk: 'Save', 'seek-start': 'Prev', stop: 'Stop', play: 'Play', 'seek-end': 'Next',
  zoomin: 'Zoom In', zoomout: 'Zoom Out',
};
const PLAYBACK = ['Prev', 'Stop', 'Play', 'Next'];

export async function clickMenu(player) {
  const named = /item labeled "(.*)"/.exec(player.task);
  // The task's icon is a picture: its class is its name.
  const icon = named ? '' : await player.peek(`document.querySelector('#query .ui-icon').className`);
  const label = named?.[1] ?? ICONS[/ui-icon-([\w-]+)/.exec(icon)[1]];
  await player.click(player.ref('button Menu'));
  if (PLAYBACK.includes(label)) {
    await player.act('hover', { selector: player.ref('menuitem Playback') });
    // The wanted item's name is also in the task's text, so wait for another one.
    await player.act('wait_for', { text: PLAYBACK.find((other) => other !== label) });
    await player.look();
  }
  await player.click(player.ref(`menuitem ${label}`));
}

export async function clickTab(player) {
  const [, word] = /click on the link "(.*)"\.$/.exec(player.task);
  const isIt = ({ role, name }) => role === 'click' && name === word;
  const tabs = player.things().filter(({ name, role }) => role === 'tab' && /^\d$/.test(name));
  for (const tab of tabs) {
    const shown = player.things().find(isIt);
    if (shown) return player.click(shown.ref);
    await player.click(tab.ref);
  }
  return player.click(player.things().find(isIt).ref);
}

export async function navigateTree(player) {
  const [, name] = /named "(.*)"\.$/.exec(player.task);
  const shown = async () => (await player.query({ selector: '#tree span' }))
    .filter(({ visible }) => visible);
  const isIt = ({ text }) => text.trim() === name;
  let found = (await shown()).find(isIt);
  if (!found) {
    const folders = (await player.query({ selector: '#tree span.folder' }))
      .filter(({ visible }) => visible);
    await player.batch(...folders.map(({ selector }) => ['click', selector]));
    found = (await shown()).find(isIt);
  }
  await player.click(found.selector);
}
