import { KEPT_LOOK_MS, KEPT_PATIENCE_ALL_MS, KEPT_PATIENCE_MS } from './limits.js';
import { pause } from './waiting.js';

/** If the page navigates because of the written text, the value of the field does not matter. */
const GONE = ['page_navigated', 'frame_gone'];

/** The time left for a command that types, in ms. */
export function leftOf({ tools, endsAt = Infinity }) {
  return { leftMs: Math.max(0, endsAt - tools.now()) };
}

/** The total time for which the calls of one command may wait for the effect of a text on its fields. */
export function newPatience() {
  return { leftMs: KEPT_PATIENCE_ALL_MS };
}

/**
 * Calls a method of the page that types, presses or fills in, and ends it when nothing waits for the
 * command any more. If its answer `isOpen`, waits for the effect of the text on the field, and rejects if
 * the field has not kept the text. Calls that share a `patience` share its time.
 */
export async function typed(setting, target, path, args, patience = newPatience()) {
  const { tab, tools: { targets }, signal } = setting;
  const end = () => {
    targets.act(tab, target, 'turns.end').catch(() => {});
  };
  signal.addEventListener('abort', end, { once: true });
  try {
    const { data, url } = await targets.act(tab, target, path, args);
    const { isOpen, ...rest } = data ?? {};
    if (!isOpen) return { url, data: rest };
    const holds = await outcome(setting, target, patience);
    const all = { ...rest, ...holds };
    // The page may have turned it into a secret meanwhile, or reveal one.
    if (all.value_left_out) delete all.value;
    return { url, data: all };
  } finally {
    signal.removeEventListener('abort', end);
  }
}

async function outcome({ tab, tools: { targets, now }, signal, endsAt = Infinity }, target, patience) {
  const from = now();
  const until = Math.min(from + KEPT_PATIENCE_MS, from + patience.leftMs, endsAt);
  while (!signal.aborted) {
    try {
      const { data } = await targets.act(tab, target, 'held.outcome', [now() >= until]);
      if (!data?.isOpen) return data ?? {};
    } catch (error) {
      if (!GONE.includes(error.code)) throw error;
      return {};
    }
    await pause(KEPT_LOOK_MS, signal);
    patience.leftMs -= KEPT_LOOK_MS;
  }
  return {};
}
