import { CLIPBOARDS_CHARS } from './limits.js';

/**
 * The clipboards of agents, one for each caller of commands, in all tabs and frames. The browser's own
 * clipboard is a person's: it is neither read nor written. They are in session storage, so that they
 * survive the end of the service worker, until the browser is closed. Beyond the limit the one written
 * longest ago is dropped.
 */
export function createClipboards({ storage }) {
  let written = Promise.resolve();

  /** A list of `[caller, content]`, the most recently written last. */
  async function kept() {
    const { clipboards = [] } = await storage.get('clipboards');
    return clipboards;
  }

  return {
    /** The content of a caller's clipboard, texts by their types: `{'text/plain': 'Ada'}`. */
    async read(caller) {
      await written.catch(() => {});
      const [, content = {}] = (await kept()).find(([owner]) => owner === caller) ?? [];
      return content;
    },

    /** Replaces the content; one change is made after the other. */
    write(caller, content) {
      written = written.catch(() => {}).then(async () => {
        const others = (await kept()).filter(([owner]) => owner !== caller);
        const clipboards = [...others, [caller, content]];
        while (charsOf(clipboards) > CLIPBOARDS_CHARS) clipboards.shift();
        await storage.set({ clipboards });
      });
      return written;
    },
  };
}

function charsOf(clipboards) {
  const texts = clipboards.flatMap(([, content]) => Object.entries(content).flat());
  return texts.reduce((sum, text) => sum + text.length, 0);
}
