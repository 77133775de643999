/**
 * MiniWoB++, played through the unchanged tools: are the tools' answers and actions enough for its
 * tasks?
 *
 *   node tests/miniwob/run.mjs --pages FOLDER [--tasks NAME,NAME] [--seeds 1-10] [--tokenizer FOLDER]
 *       [--verbose]
 *
 * It is not among the tests of ./dev test: its pages are third-party work. FOLDER is a checkout of
 * https://github.com/Farama-Foundation/miniwob-plusplus. CALLSLIP_BIN is the folder of our
 * programs. Tokens are bytes / 4, or those of o200k if `gpt-tokenizer` is installed in the folder
 * of --tokenizer. It ends with 1 if a bar is missed.
 */
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { House } from '../e2e/support/house.js';
import { bars, table } from './figures.js';
import { servePages } from './pages.js';
import { Player } from './player.js';
import { TASKS } from './tasks.js';

/** The page's outcome: whether the task is over, and its reward without a discount for time. */
const OUTCOME = '[WOB_DONE_GLOBAL, WOB_RAW_REWARD_GLOBAL]';

function tokenizer(folder) {
  if (!folder) return { name: 'bytes / 4', tokens: (text) => Math.round(Buffer.byteLength(text) / 4) };
  const { encode } = createRequire(join(folder, 'index.js'))('gpt-tokenizer/encoding/o200k_base');
  return { name: 'o200k', tokens: (text) => encode(text).length };
}

/** One task with one seed: `{task, seed, solved, calls, answers, why}`. */
async function play(player, url, { name, solve, least = 1 }, seed) {
  const result = { task: name, seed, solved: false };
  try {
    await player.open(url);
    await solve(player);
    const [done, reward] = await player.peek(OUTCOME);
    result.solved = done && reward >= least;
    if (!result.solved) result.why = `${done ? `a reward of ${reward}` : 'not done'}: ${player.task}`;
  } catch (error) {
    result.why = `${error.message.slice(0, 400)}: ${player.task}`;
  }
  return { ...result, calls: player.calls, answers: player.answers };
}

async function playAll(tasks, seeds, options) {
  const pages = await servePages(options.pages);
  const house = await House.open();
  const results = [];
  try {
    const agent = await house.agentOverBridge();
    await house.browser.open(`${house.pages.url}/second`);
    const player = new Player(agent, options);
    for (const task of tasks) {
      for (const seed of seeds) {
        const result = await play(player, pages.url(task.name, seed), task, seed);
        if (!result.solved) {
          console.error(`${task.name} ${seed}: ${result.why}\n${player.heard.at(0) ?? ''}`);
        }
        results.push(result);
      }
    }
  } finally {
    await house.close();
    pages.close();
  }
  return results;
}

const { values } = parseArgs({
  options: {
    pages: { type: 'string' },
    tasks: { type: 'string' },
    seeds: { type: 'string', default: '1-10' },
    tokenizer: { type: 'string' },
    verbose: { type: 'boolean', default: false },
  },
});
if (!values.pages) {
  console.error('run.mjs: --pages has to name a checkout of MiniWoB++.');
  process.exit(2);
}
const named = values.tasks?.split(',');
const tasks = TASKS.filter(({ name }) => !named || named.includes(name));
const [first, last = first] = values.seeds.split('-').map(Number);
const seeds = Array.from({ length: last - first + 1 }, (_, number) => first + number);
const { name, tokens } = tokenizer(values.tokenizer);
const say = values.verbose ? console.log : () => {};

const results = await playAll(tasks, seeds, { pages: values.pages, tokens, say });
console.log(table(tasks, results));
const checked = bars(tasks, results);
for (const { what, figure, bar, isMet } of checked) {
  console.log(`${isMet ? 'met' : 'MISSED'}: ${what} ${figure} (bar ${bar})`);
}
console.log(`total: ${results.filter(({ solved }) => solved).length} of ${results.length} episodes solved, `
  + `${results.reduce((sum, { calls }) => sum + calls, 0)} calls; tokens are ${name}`);
process.exitCode = checked.every(({ isMet }) => isMet) ? 0 : 1;
