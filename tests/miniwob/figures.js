/** The first of the seeds that were held out while the oracles were written. */
const HELD_OUT = 6;

/** On held-out seeds one main task may fail: some random tasks can't be solved by whole pixels. */
const HELD_OUT_MISSES = 1;
const ANSWER_TOKENS = 120;

export function median(numbers) {
  const sorted = numbers.toSorted((a, b) => a - b);
  const middle = Math.floor(sorted.length / 2);
  return sorted.length % 2 === 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
}

const share = (results) => `${results.filter(({ solved }) => solved).length}/${results.length}`;
const open = ({ seed }) => seed < HELD_OUT;
const heldOut = ({ seed }) => seed >= HELD_OUT;

/** A line of a Markdown table for each task. */
export function table(tasks, results) {
  const lines = tasks.map(({ name, group }) => {
    const own = results.filter(({ task }) => task === name);
    const answers = own.flatMap((each) => each.answers);
    const cells = [name, group, share(own.filter(open)), share(own.filter(heldOut)),
      median(own.map(({ calls }) => calls)), median(answers), Math.max(...answers)];
    return `| ${cells.join(' | ')} |`;
  });
  return ['| task | | seeds 1–5 | held out | calls | tokens of an answer | the longest |',
    '|---|---|---|---|---|---|---|', ...lines].join('\n');
}

/** The number of tasks that are solved with all of the seeds. */
function solvedBy(tasks, results, seeds) {
  const all = ({ name }) => results.filter((each) => each.task === name && seeds(each))
    .every(({ solved }) => solved);
  return tasks.filter(all).length;
}

/** The bars and the figures of the played tasks: `{what, figure, bar, isMet}`. */
export function bars(tasks, results) {
  const found = [];
  const least = (what, figure, bar) => found.push({ what, figure, bar: `≥ ${bar}`, isMet: figure >= bar });
  const most = (what, figure, bar) => found.push({ what, figure, bar: `≤ ${bar}`, isMet: figure <= bar });
  for (const [group, misses] of [['main', HELD_OUT_MISSES], ['extra', 0]]) {
    const own = tasks.filter((task) => task.group === group);
    if (own.length === 0) continue;
    if (results.some(open)) least(`${group}, seeds 1–5`, solvedBy(own, results, open), own.length);
    if (results.some(heldOut)) {
      const missing = own.length > 1 ? misses : 0;
      least(`${group}, held out`, solvedBy(own, results, heldOut), own.length - missing);
    }
  }
  for (const { name, calls } of tasks) {
    const own = results.filter(({ task }) => task === name);
    if (calls) most(`${name}, calls`, median(own.map((each) => each.calls)), calls);
  }
  const answers = results.flatMap((each) => each.answers);
  most('tokens of an answer to an action, median', median(answers), ANSWER_TOKENS);
  return found;
}
