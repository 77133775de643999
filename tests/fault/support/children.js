import { readFile, readdir } from 'node:fs/promises';

/** The names of the processes that this one has started and that have not ended. */
export async function children() {
  const tasks = await readdir('/proc/self/task');
  const lists = await Promise.all(
    tasks.map((task) => readFile(`/proc/self/task/${task}/children`, 'utf8')));
  const pids = lists.flatMap((list) => list.split(' ').filter(Boolean));
  return Promise.all(pids.map((pid) => readFile(`/proc/${pid}/comm`, 'utf8')));
}
