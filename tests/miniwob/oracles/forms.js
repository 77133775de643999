/** Tasks in forms, with fields made by libraries. */

export async function clickCheckboxes(player) {
  const [, names] = /^Select (.*) and click Submit\.$/.exec(player.task);
  const fields = names === 'nothing' ? []
    : names.split(', ').map((name) => [player.ref(`checkbox ${name}`), true]);
  await player.batch(['fill', Object.fromEntries(fields)], ['click', player.ref('button Submit')]);
}

export async function enterTime(player) {
  const [, hour, minutes, half] = /^Enter (\d+):(\d+) ([AP]M) /.exec(player.task);
  const hours = String(Number(hour) % 12 + (half === 'PM' ? 12 : 0)).padStart(2, '0');
  await player.batch(['fill', { [player.ref(/^time/)]: `${hours}:${minutes}` }],
    ['click', player.ref('button Submit')]);
}

/** Chooses a day of 2016 in the calendar that a click on the field opens. */
export async function pickDay(player, field, month, day) {
  const opened = await player.click(field);
  const names = ['January', 'February', 'March', 'April', 'May', 'June', 'July', 'August',
    'September', 'October', 'November', 'December'];
  const shown = names.indexOf(/(\w+) 2016/.exec(opened)[1]) + 1;
  const way = month < shown ? '[data-handler="prev"]' : '[data-handler="next"]';
  const steps = Array.from({ length: Math.abs(month - shown) }, () => ['click', way]);
  if (steps.length > 0) await player.batch(...steps);
  await player.look({ selector: '.ui-datepicker-calendar' });
  await player.click(player.ref(`link ${day}`));
}

export async function chooseDate(player) {
  const [, month, day] = /^Select (\d+)\/(\d+)\/2016/.exec(player.task);
  await pickDay(player, player.ref(/^textbox/), Number(month), Number(day));
  await player.click(player.ref('button Submit'));
}

export async function formSequence(player) {
  const [, height, button] = /^Choose (.*) from the dropdown, then click the button labeled "(\w+)"/
    .exec(player.task);
  await player.click(player.ref('click'));
  await player.click(player.ref(`click ${height}`));
  await player.click(player.ref(`button ${button}`));
}

/** Fills a field that may open a dialog: the dialog is cancelled, and the field filled again. */
async function fillCalmly(player, field, value) {
  try {
    await player.act('fill', { fields: { [field]: value } });
    return;
  } catch (error) {
    if (!/^error element_disabled/.test(error.message)) throw error;
  }
  await player.look();
  await player.click(player.ref('button Cancel'));
  await player.act('fill', { fields: { [field]: value } });
}

export async function loginUser(player) {
  const [, user, password] = /username "(.*)" and the password "(.*)" into/.exec(player.task);
  const name = player.ref(/^textbox/);
  const secret = player.ref(/^password/);
  const button = player.ref('button OK');
  await fillCalmly(player, name, user);
  await fillCalmly(player, secret, password);
  await player.click(button);
}

export async function useAutocomplete(player) {
  const [, start, , end = ''] = /starts with "(.*?)"( and ends with "(.*)")?\.$/.exec(player.task);
  await player.act('type', { selector: player.ref(/^textbox/), text: start });
  await player.act('wait_for', { selector: '.ui-autocomplete li' });
  await player.look({ selector: '.ui-autocomplete' });
  const { ref } = player.things().find(({ name, role }) =>
    role !== 'textbox' && name.startsWith(start) && name.endsWith(end));
  await player.click(ref);
  await player.click(player.ref('button Submit'));
}

export async function useSlider(player) {
  const [, wanted] = /^Select (-?\d+) with the slider/.exec(player.task);
  const now = player.lines().find((line) => /^-?\d+$/.test(line));
  const steps = Number(wanted) - Number(now);
  const key = `${steps < 0 ? 'ArrowLeft' : 'ArrowRight'}*${Math.abs(steps)}`;
  if (steps !== 0) await player.act('press', { selector: '.ui-slider-handle', key });
  await player.click(player.ref('button Submit'));
}

export async function useSpinner(player) {
  const [, wanted] = /^Select (-?\d+) with the spinner/.exec(player.task);
  const arrow = Number(wanted) < 0 ? '.ui-spinner-down' : '.ui-spinner-up';
  const steps = Array.from({ length: Math.abs(wanted) }, () => ['click', arrow]);
  await player.batch(...steps, ['click', player.ref('button Submit')]);
}
