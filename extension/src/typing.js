import { KEPT_LOOK_MS, KEPT_PATIENCE_ALL_MS, KEPT_PATIENCE_MS } from './limits.js';
import { pause } from './waiting.js';

/** Where the page goes on by what was written into it, nobody asks what the field holds. */
const GONE = ['page_navigated', 'frame_gone'];

/** How long a command that types may take, in ms. */
export function leftOf({ tools, endsAt = Infinity }) {
  return { leftMs: Math.max(0, endsAt - tools.now()) };
}

/** How long the calls of one command may wait together for what fields make of a text. */
export function newPatience() {
  return { leftMs: KEPT_PATIENCE_ALL_MS };
}

/**
 * Calls a method of the page that types, presses or fills in, and ends that where nobody waits for the
 * command any more. Where its answer `isOpen`, waits for what the field has made of the text; rejects where it has
 * not kept it. Calls that share a `patience` wait for so long together.
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
    // The page may have made a secret of it meanwhile, or shows what was one.
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
