const RELAY = ['src/page/cut_text.js', 'src/page/relay.js'];
const STAND_INS = 'src/page/main/stand_ins.js';
const ACCEPT = 'src/page/accept.js';
const IDS = ['relay', 'stand-ins'];

/** How many documents are remembered in which no script can run. */
const MUTE_DOCUMENTS = 1_000;

/**
 * Installs page/relay.js and page/main/stand_ins.js in documents: in new ones while that is wanted, and in
 * existing ones. For new documents the browser can do this only for all tabs.
 */
export function createStandInScripts({ scripting, log }) {
  /** What new documents begin with: `accept`, `dismiss`, or null for nothing. */
  let beginning = null;
  /**
   * The last change of that; the next one waits for it. An earlier service worker may have left some
   * scripts.
   */
  let changed = unregister();
  const mute = new Set();

  function unregister() {
    return scripting.unregisterContentScripts({ ids: IDS }).catch(() => {});
  }

  async function register(dialog) {
    const shared = {
      matches: ['<all_urls>'],
      allFrames: true,
      matchOriginAsFallback: true,
      runAt: 'document_start',
      persistAcrossSessions: false,
    };
    const scripts = [
      { ...shared, id: IDS[0], js: dialog === 'accept' ? [ACCEPT, ...RELAY] : RELAY },
      { ...shared, id: IDS[1], js: [STAND_INS], world: 'MAIN' },
    ];
    try {
      await scripting.registerContentScripts(scripts);
    } catch {
      // Before version 119 the browser has no option for frames without an address of their own.
      for (const script of scripts) delete script.matchOriginAsFallback;
      await scripting.registerContentScripts(scripts);
    }
  }

  function inject(target, injection) {
    return scripting.executeScript({ target, injectImmediately: true, ...injection });
  }

  async function install(target, order) {
    await inject(target, { files: RELAY });
    await inject(target, { files: [STAND_INS], world: 'MAIN' });
    const [{ result } = {}] = await inject(target, { func: orderFrame, args: [order] });
    return result;
  }

  return {
    /**
     * From now on new documents have stand-ins with this answer: `accept`, `dismiss`, or null for no
     * stand-ins.
     */
    begin(dialog) {
      if (dialog === beginning) return changed;
      beginning = dialog;
      changed = changed.then(async () => {
        await unregister();
        if (dialog) await register(dialog);
      }).catch((error) => log(`Dialogs of new pages are not answered: ${error.message}`));
      return changed;
    },

    /**
     * Sends an order `{ms, dialog}` to all documents of a tab, and installs the files in those that lack
     * them.
     */
    async order(tabId, order) {
      const all = { tabId, allFrames: true };
      const results = await inject(all, { func: orderFrame, args: [order] });
      if (order.ms <= 0) return;
      const lacking = results.filter(({ result, documentId }) =>
        !result?.page && !mute.has(documentId));
      await Promise.all(lacking.map(async ({ documentId }) => {
        // The document may be gone, or be one that the browser protects.
        const result = await install({ tabId, documentIds: [documentId] }, order).catch(() => ({}));
        if (mute.size > MUTE_DOCUMENTS) mute.clear();
        if (!result?.page) mute.add(documentId);
      }));
    },
  };
}

/** Runs in each frame: passes on the order, and returns whether a relay and stand-ins exist to take it. */
function orderFrame(order) {
  return Object.hasOwn(globalThis, 'callslipRelay') ? globalThis.callslipRelay.order(order) : {};
}
