/**
 * The fake model's actions in a turn: a JSON list in the user's message, of
 *
 *   {"say": "text"}                      says it, word by word
 *   {"call": "tool", "args": {…}}        calls the agent's tool, and continues with its result
 *   {"collect": "tool"}                  while the last result says that a command has not ended, asks
 *                                        `tool` for the command's result, as that result advises
 *   {"repeat": true}                     says the last result
 *   {"hold": "name"}                     waits for the test
 *
 * `<<button Send>>` in the `args` of a call stands for the ref of that role and name in the newest
 * result with it. Without one the model says so and ends.
 *
 * A model has no memory: each request contains the conversation, so the position in the script
 * follows from the number of results in it.
 */

/** The advice to ask again, in results of the gateway's tools. */
const ASK_AGAIN = /observe \{what: 'command_result'|says nothing of what the command did|"final":\s*false/;
const COMMAND_IDS = /corr-\d+-[0-9a-f]{32}/g;
const CALLED = /<<(.+?)>>/g;
/** The end of a name in a line of an outline: states, a value, options, another cell or ref. */
const NAME_ENDS = '(?= \\[| = | of | placeholder | \\||\\]| e\\d| ?$)';

/** The script in a user's text; undefined if there is none. */
export function scriptIn(text) {
  const trimmed = text.trim();
  if (!trimmed.startsWith('[')) return undefined;
  try {
    const script = JSON.parse(trimmed);
    return Array.isArray(script) ? script : undefined;
  } catch {
    return undefined;
  }
}

/** The next moves: `say`s and `hold`s, and a call at the end if there is one. */
export function nextMoves(script, results) {
  if (script === undefined) return [{ say: 'There is no script in this.' }];
  const moves = [];
  let seen = 0;
  for (const step of script) {
    if ('call' in step) {
      if (seen === results.length) return [...moves, ...calling(step, results)];
      seen += 1;
    } else if ('collect' in step) {
      while (ASK_AGAIN.test(results[seen - 1])) {
        if (seen === results.length) return [...moves, asking(step.collect, results)];
        seen += 1;
      }
    } else if (seen === results.length) {
      // Texts before a result were said in an earlier request.
      moves.push('repeat' in step ? { say: results.at(-1) ?? 'nothing' } : step);
    }
  }
  return moves;
}

/** The call with its refs filled in, or a text that names the missing ones. */
function calling({ call, args = {} }, results) {
  const missing = [];
  const text = JSON.stringify(args).replace(CALLED, (_, called) => {
    const ref = refOf(JSON.parse(`"${called}"`), results);
    if (!ref) missing.push(called);
    return ref;
  });
  if (missing.length > 0) return [{ say: `I see nothing that is called ${missing.join(', ')}.` }];
  return [{ call, args: JSON.parse(text) }];
}

function refOf(called, results) {
  const words = called.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');
  const line = new RegExp(`\\b(e[1-9]\\d*) ${words}${NAME_ENDS}`, 'm');
  for (const result of results.toReversed()) {
    const found = line.exec(result);
    if (found) return found[1];
  }
  return undefined;
}

function asking(tool, results) {
  const [id] = results.join(' ').match(COMMAND_IDS).slice(-1);
  return { call: tool, args: { what: 'command_result', correlation_id: id, wait_ms: 8_000 } };
}
