import { createAllFrames } from './all_frames.js';
import { CommandError, frameGone, frameUnreachable, pageNavigated } from './errors.js';
import { HANDS_FILES } from './hands_files.js';

/**
 * The scripts that are installed in each document, in this order: later files use earlier ones. They are
 * plain scripts that add their part to `callslip`, the object that page/parts.js creates.
 */
export const PARTS = [
  'src/page/parts.js',
  'src/page/cut_text.js',
  'src/page/pdf_viewer.js',
  'src/page/secret_fields.js',
  'src/page/eyes/bounds.js',
  'src/page/eyes/reading.js',
  'src/page/eyes/shadow.js',
  'src/page/eyes/refs.js',
  'src/page/eyes/frame_path.js',
  'src/page/eyes/roles.js',
  'src/page/eyes/names.js',
  'src/page/eyes/states.js',
  'src/page/eyes/guard.js',
  'src/page/eyes/lines.js',
  'src/page/eyes/acts.js',
  'src/page/eyes/walk.js',
  'src/page/eyes/outline.js',
  'src/page/eyes/boxes.js',
  ...HANDS_FILES,
  'src/page/hands/quiet.js',
  'src/page/hands/files.js',
];

const GONE = /frame with id \d+ (was removed|is not ready)|no (frame|document) with id/i;
const UNREACHABLE = /cannot access|cannot be scripted|missing host permission|blocked|error page/i;

/**
 * Calls the parts in the frames of a tab, in the extension's own world, and installs them where they are
 * missing. `session()` resolves to a text that stays the same as long as refs are valid; documents that
 * were prepared under another one are prepared again.
 */
export function createPageParts(browser, session) {
  const injectInAll = createAllFrames({
    scripting: browser.scripting, tabs: browser.tabs, now: () => performance.now(),
  });

  function inject(target, injection) {
    if (target.allFrames) return injectInAll(target.tabId, injection);
    return browser.scripting.executeScript({ target, injectImmediately: true, ...injection });
  }

  /** Documents in which the parts are being installed: a second installation would lose their state. */
  const installing = new Map();

  function installOnce(target, version) {
    const [documentId] = target.documentIds;
    if (!installing.has(documentId)) {
      const done = inject(target, { files: PARTS })
        .then(() => run(target, version, null, [], true))
        .finally(() => installing.delete(documentId));
      installing.set(documentId, done);
    }
    return installing.get(documentId);
  }

  function run(target, version, path, args, fresh) {
    return inject(target, { func: callPart, args: [version, path, args, fresh] });
  }

  /** The answers of all frames of the target, once all of them have the parts. */
  async function answers(target, path, args) {
    const version = await session();
    const results = await run(target, version, path, args, false);
    const lacking = results.filter(({ result }) => result?.missing);
    if (lacking.length === 0) return results;
    const { tabId } = target;
    const documentIds = lacking.map(({ documentId }) => documentId);
    const later = await Promise.all(documentIds.map(async (documentId) => {
      const one = { tabId, documentIds: [documentId] };
      try {
        await installOnce(one, version);
        return await run(one, version, path, args, false);
      } catch (error) {
        if (lacking.length === 1 && results.length === 1) throw error;
        return [];
      }
    }));
    const byDocument = new Map(later.flat().map((result) => [result.documentId, result]));
    return results
      .map((result) => (result.result?.missing ? byDocument.get(result.documentId) : result))
      .filter(Boolean);
  }

  function explained(error, { frameId, documentId }) {
    const isTop = !frameId && !documentId;
    if (GONE.test(error.message)) return isTop ? pageNavigated() : frameGone();
    if (UNREACHABLE.test(error.message) && frameId) return frameUnreachable(error.message);
    return error;
  }

  return {
    /** Installs the parts in the given frames of a tab, or in all. */
    async install(tabId, { frameIds } = {}) {
      const target = frameIds ? { tabId, frameIds } : { tabId, allFrames: true };
      await answers(target, null, []);
    },

    /**
     * Calls `callslip[part][method](...args)`, written `part.method`, in one document: the given one, or
     * that of a frame, or that of the top frame. Resolves to `{url, data}`. If the frame is gone, it
     * rejects with frame_gone, or page_navigated for the top frame.
     */
    async call(tabId, { frameId = 0, documentId } = {}, path, args = []) {
      const place = documentId ? { documentIds: [documentId] } : { frameIds: [frameId] };
      let results;
      try {
        results = await answers({ tabId, ...place }, path, args);
      } catch (error) {
        throw explained(error, { frameId, documentId });
      }
      const answer = results[0]?.result;
      if (!answer) throw frameId || documentId ? frameGone() : pageNavigated();
      if (answer.error) throw new CommandError({ ...answer.error, url: answer.url });
      return { url: answer.url, data: answer.data };
    },

    /**
     * The same in all frames of a tab. Resolves to a list of `{frameId, documentId, url, result}`, with
     * `error` instead of `result` for frames that failed; the top frame comes first.
     */
    async callAll(tabId, path, args = []) {
      let results;
      try {
        results = await answers({ tabId, allFrames: true }, path, args);
      } catch (error) {
        throw explained(error, {});
      }
      return results
        .filter(({ result }) => result)
        .sort((a, b) => a.frameId - b.frameId)
        .map(({ frameId, documentId, result: { url, data, error } }) =>
          ({ frameId, documentId, url, ...(error ? { error } : { result: data }) }));
    },
  };
}

/** Runs in the frame. It never throws, because the browser drops what it throws. */
async function callPart(version, path, args, fresh) {
  const url = location.href;
  // An element of the page may have the same name.
  if (!Object.hasOwn(globalThis, 'callslip')) return { missing: true };
  if (fresh) globalThis.callslip.version = version;
  const { callslip } = globalThis;
  if (callslip.version !== version) return { missing: true };
  if (path === null) return { url };
  // A frame reports its position whatever it shows.
  const isPlace = window !== window.top && ['outline.look', 'frame_path.look'].includes(path);
  const refusal = isPlace ? undefined : callslipPdfViewer.refusal();
  if (refusal) return { url, error: refusal };
  const [part, method] = path.split('.');
  try {
    return { url, data: await callslip[part][method](...args) };
  } catch (error) {
    if (error instanceof callslip.Failure) return { url, error: error.answer };
    const message = `The page could not be looked at: ${error?.message ?? error}`;
    return { url, error: { code: 'execution_failed', message } };
  }
}
