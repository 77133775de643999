/** Tasks on the likeness of a site: a mailer, an airline, a shop. */
import { pickDay } from './forms.js';

/** Types into a field with suggestions, and takes the matching one. */
async function suggest(player, field, text, isIt) {
  await player.act('type', { selector: field, text });
  await player.act('wait_for', { selector: '.ui-autocomplete li' });
  await player.look({ view: 'interactive' });
  await player.click(player.things().find(({ name }) => isIt(name)).ref);
}

/** The values that the task minimizes: the duration of each flight in minutes, or its price. */
function costs(lines, by) {
  const found = [];
  let minutes;
  for (const line of lines) {
    const lasts = /(\d+)h (\d+)m/.exec(line);
    if (lasts) minutes = Number(lasts[1]) * 60 + Number(lasts[2]);
    const book = /^(e\d+) button Book flight for \$(\d+)/.exec(line);
    if (book) found.push({ ref: book[1], cost: by === 'shortest' ? minutes : Number(book[2]) });
  }
  return found;
}

export async function bookFlight(player) {
  const [, by, from, to, month, day] =
    /^Book the (\w+) one-way flight from: (.*) to: (.*) on (\d+)\/(\d+)\/2016\.$/.exec(player.task);
  const [origin, goal, date] = player.things().filter(({ role }) => role === 'textbox')
    .map(({ ref }) => ref);
  const search = player.ref('button Search');
  for (const [field, place] of [[origin, from], [goal, to]]) {
    const isIt = (name) => name.startsWith(`${place} (`) || name.endsWith(`(${place})`);
    await suggest(player, field, place, isIt);
  }
  await pickDay(player, date, Number(month), Number(day));
  await player.click(search);
  await player.look();
  const [best] = costs(player.lines(), by).toSorted((a, b) => a.cost - b.cost);
  await player.click(best.ref);
}

export async function emailInbox(player) {
  const { task } = player;
  const [, name] = /email by (.*?) and /.exec(task);
  const threads = await player.query({ selector: '.email-thread' });
  const { selector } = threads.find(({ text }) => text.includes(name));
  await player.click(selector);
  const forward = /forward that email to (.*)\.$/.exec(task)?.[1];
  const reply = /reply to them with the text "(.*)"\.$/.exec(task)?.[1];
  if (/trash icon/.test(task)) return player.click('#email .trash');
  if (/star icon/.test(task)) return player.click('#email .star');
  await player.click(forward ? '.email-forward' : '.email-reply');
  return forward
    ? player.batch(['fill', { '.forward-sender': forward }], ['click', '#send-forward'])
    : player.batch(['fill', { '#reply-text': reply }], ['click', '#send-reply']);
}

export async function socialMedia(player) {
  const [, button, count, user] =
    /^Click the "(\w+)" button on (\d+) posts? by (@\S+) and then click Submit/.exec(player.task);
  const posts = await player.query({ selector: '.media' });
  const own = posts.filter(({ text }) => text.split(/\s+/).includes(user)).slice(0, Number(count));
  const steps = own.map(({ selector }) => ['click', `${selector} .${button.toLowerCase()}`]);
  await player.batch(...steps, ['click', '#submitRow button']);
}

export async function orderFood(player) {
  const { task } = player;
  const items = await player.query({ selector: '.food-item' });
  const add = ({ selector }) => ['click', `${selector} .add`];
  const button = ['click', '#submit-order button'];
  const names = /^Order one of each item: (.*)$/.exec(task)?.[1];
  if (names) {
    const wanted = items.filter(({ text }) => names.split(/, */).includes(text.split('\n')[0].trim()));
    return player.batch(...wanted.map(add), button);
  }
  const [, count, kind] = /^Order (\d) items that are (\S+)$/.exec(task);
  const marks = await player.query({ selector: `.food-item img[alt="${kind}"]` });
  const one = items.find(({ bounds: { y, height } }) => marks[0].y > y && marks[0].y < y + height);
  return player.batch(...Array.from({ length: Number(count) }, () => add(one)), button);
}

const PER_PAGE = 3;

export async function searchEngine(player) {
  const [, words, place] = /enter "(.*)" and press "Search", then find and click the (\d+)\w+ /
    .exec(player.task);
  const number = Number(place) - 1;
  await player.batch(['fill', { [player.ref(/^textbox/)]: words }],
    ['click', player.ref('button Search')]);
  const page = Math.floor(number / PER_PAGE) + 1;
  await player.look();
  if (page > 1) await player.click(player.ref(`link ${page}`));
  const results = await player.query({ selector: '#page-content a' });
  await player.click(results[number % PER_PAGE].selector);
}

/** The number of people in the book, each on a page of its own. */
const PEOPLE = 5;

export async function phoneBook(player) {
  const [, name, what] = /^Find (.*) in the contact book and click on their (\w+)/.exec(player.task);
  for (let page = 1; page < PEOPLE && !player.lines().includes(`## ${name}`); page += 1) {
    await player.click(player.ref('link >'));
    await player.look();
  }
  await player.click(`#contact .${what}`);
}
