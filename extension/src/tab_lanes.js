/**
 * Keeps the commands of one tab in order while different tabs run in parallel. A lane exists as long as it
 * contains a task.
 */
export function createTabLanes() {
  const tails = new Map();
  return {
    /** Runs `task` once every earlier task of the lane has settled. */
    enter(lane, task) {
      const turn = (tails.get(lane) ?? Promise.resolve()).then(task);
      const tail = turn
        .catch(() => {})
        .then(() => {
          if (tails.get(lane) === tail) tails.delete(lane);
        });
      tails.set(lane, tail);
      return turn;
    },
  };
}
