/**
 * Keeps the commands of one tab in order while different tabs run side by side. A lane exists for
 * as long as something is in it.
 */
export function createTabLanes() {
  const tails = new Map();
  return {
    /** Runs `task` once everything that entered the lane before it has settled. */
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
