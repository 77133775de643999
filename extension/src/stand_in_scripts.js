const RELAY = ['src/page/cut_text.js', 'src/page/relay.js'];
const STAND_INS = 'src/page/main/stand_ins.js';
const ACCEPT = 'src/page/accept.js';
const IDS = ['relay', 'stand-ins'];

/** How many documents are remembered in which no script of a page can run. */
const MUTE_DOCUMENTS = 1_000;

/**
 * Brings page/relay.js and page/main/stand_ins.js into documents: into those that begin, while that
 * is wanted, and into those that are there. The former the browser can do for all tabs only.
 */
export function createStandInScripts({ scripting, log }) {
  /** What documents begin with: `accept`, `dismiss`, or null for nothing. */
  let beginning = null;
  /** The last change of that; the next one waits for it. An earlier service worker may have left some. */
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
      // Before version 119 the browser has no name for frames without an address of their own.
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
    /** Documents begin with stand-ins that answer so from now on: `accept`, `dismiss`, or null. */
    begin(dialog) {
      if (dialog === beginning) return changed;
      beginning = dialog;
      changed = changed.then(async () => {
        await unregister();
        if (dialog) await register(dialog);
      }).catch((error) => log(`Dialogs of new pages are not answered: ${error.message}`));
      return changed;
    },

    /** Gives an order `{ms, dialog}` to all documents of a tab, and the files to those without. */
    async order(tabId, order) {
      const all = { tabId, allFrames: true };
      const results = await inject(all, { func: orderFrame, args: [order] });
      if (order.ms <= 0) return;
      const lacking = results.filter(({ result, documentId }) =>
        !result?.page && !mute.has(documentId));
      await Promise.all(lacking.map(async ({ documentId }) => {
        // The document may have gone, or be one that the browser keeps for itself.
        const result = await install({ tabId, documentIds: [documentId] }, order).catch(() => ({}));
        if (mute.size > MUTE_DOCUMENTS) mute.clear();
        if (!result?.page) mute.add(documentId);
      }));
    },
  };
}

/** Runs in each frame: gives the order, and says whether there is anybody to take it. */
function orderFrame(order) {
  return Object.hasOwn(globalThis, 'callslipRelay') ? globalThis.callslipRelay.order(order) : {};
}
