import { CommandError, invalidParams } from '../errors.js';
import { BATCH_STEPS, STEP_PAUSE_MS } from '../limits.js';
import { pause } from '../waiting.js';

/** Creates an action that runs other actions, one after the other, until the first failure. */
export function createBatch(actions) {
  /** The action of a step; errors include the number of the step. */
  function checked(step, number) {
    const name = step?.action ?? '';
    const action = Object.hasOwn(actions, name) ? actions[name] : undefined;
    if (!action) {
      const names = Object.keys(actions).join(', ');
      throw invalidParams('steps', `step ${number}: action must be one of ${names}`);
    }
    for (const ofAll of ['tab_id', 'dialog', 'view']) {
      if (step[ofAll] !== undefined) throw invalidParams('steps', `step ${number}: ${ofAll} stands beside steps`);
    }
    try {
      action.check(step);
    } catch (error) {
      if (!(error instanceof CommandError)) throw error;
      throw invalidParams('steps', `step ${number}: ${error.message}`);
    }
    return action;
  }

  return {
    reported: true,

    check({ steps }) {
      if (!Array.isArray(steps) || steps.length === 0 || steps.length > BATCH_STEPS) {
        throw invalidParams('steps', `must be a list of 1 to ${BATCH_STEPS} actions`);
      }
      steps.forEach((step, place) => checked(step, place + 1));
    },

    async run(setting) {
      const { params: { steps }, tools, signal } = setting;
      const settle = setting.settle ?? (() => pause(STEP_PAUSE_MS, signal));
      const done = [];
      const values = {};
      let url;
      for (const [place, params] of steps.entries()) {
        if (place > 0) await settle();
        if (signal.aborted) return undefined;
        setting.progress(`Step ${place + 1} of ${steps.length}: ${params.action}.`, place / steps.length);
        try {
          const tab = await tools.tabs.named(setting.tab.id);
          await tools.guard(tab.url);
          const result = await checked(params, place + 1).run({ ...setting, tab, params });
          if (!result) return undefined;
          ({ url } = result);
          if (params.action === 'execute_js') values[place + 1] = result.data;
          done.push(result.data?.done ?? `${params.action} ${params.selector ?? params.url ?? ''}`.trim());
        } catch (error) {
          throw atStep(await tools.tabs.explain(error, setting.tab.id), place + 1, params.action, done);
        }
      }
      const more = Object.keys(values).length > 0 ? { values } : {};
      return { url, data: { ...more, done: done.join('; ') } };
    },
  };
}

/** The error of a failed step, with its number and the steps done before it. */
function atStep({ code, message, hint, mayHaveExecuted, url }, number, action, done) {
  const before = done.length > 0 ? ` Done before it: ${done.join('; ')}.` : '';
  return new CommandError({
    code,
    message: `step ${number} (${action}): ${message}${before}`,
    hint,
    url,
    mayHaveExecuted: done.length > 0 ? true : mayHaveExecuted,
  });
}
