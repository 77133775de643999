/** Tasks about texts: selecting, copying, scrolling and typing. */

export async function highlightText(player) {
  const text = player.lines().find((line) =>
    line !== player.task && !/^(e\d+|main|Last|Time|Episodes|-|\d)/.test(line));
  await player.act('select_text', { text });
  await player.click(player.ref('button Submit'));
}

const COLOURS = {
  red: '#e60000', orange: '#ff9900', yellow: '#ffff00', green: '#008a00', blue: '#0066cc',
  purple: '#9933ff',
};
const BUTTONS = { bold: '.ql-bold', italics: '.ql-italic', underlined: '.ql-underline' };

export async function textEditor(player) {
  const { task } = player;
  const word = /give the text (.*) the (?:style|color)/.exec(task)?.[1];
  await player.act('select_text', { selector: '.ql-editor', ...word && { text: word } });
  const style = /the style (\w+)/.exec(task)?.[1];
  if (style) {
    await player.click(BUTTONS[style]);
  } else {
    const [, colour] = /the color (\w+)/.exec(task);
    await player.batch(['click', '.ql-color .ql-picker-label'],
      ['click', `.ql-color .ql-picker-item[data-value="${COLOURS[colour]}"]`]);
  }
  await player.click(player.ref('button Submit'));
}

export async function copyPaste(player) {
  const [, place] = /from the (\d)\w+ text area/.exec(player.task);
  const areas = await player.query({ selector: 'textarea' });
  const { attributes } = areas[Number(place) - 1];
  await player.batch(['fill', { '#answer-input': attributes.value }],
    ['click', player.ref('button Submit')]);
}

export async function terminal(player) {
  const ending = /extension (\.\S+)$/.exec(player.task)?.[1];
  await player.click('#terminal');
  const said = await player.act('type', { text: 'ls\n' });
  const files = said.split('\n').slice(1).filter((line) => !/user\$/.test(line))
    .flatMap((line) => line.replace(/^[+~-] /, '').trim().replace(/^'/, '').split(' '));
  const file = files.find((name) => (ending ? name.endsWith(ending) : /^\w+$/.test(name)));
  await player.act('type', { text: `rm ${file}\n` });
}

const FAR = 100_000;

export async function scrollText(player) {
  const y = /to the bottom/.test(player.task) ? FAR : 0;
  await player.act('scroll', { selector: player.ref(/^textbox/), x: 0, y });
  await player.click(player.ref('button Submit'));
}

export async function signAgreement(player) {
  const [, name, button] = /enter the name "(.*)" then press "(\w+)"/.exec(player.task) ?? [];
  if (!name) return player.click(player.ref('button Cancel'));
  await player.act('scroll', { selector: '#text-area', x: 0, y: FAR });
  return player.batch(['fill', { [player.ref(/^textbox Name/)]: name }],
    ['click', player.ref(`button ${button}`)]);
}
