import {
  ANNOTATIONS, DRAWING_WAITERS, ELEMENT_TEXT_CHARS, NOTE_CHARS, PAINT_PATIENCE_MS, STYLE_CHARS,
  TYPING_PAUSE_MS,
} from '../limits.js';
import { createTabLanes } from '../tab_lanes.js';
import { boardIsOpenHere, closeBoardHere, openBoardHere } from './page/calls.js';
import { takePictures } from './pictures.js';
import { toldAddress } from '../told_page.js';

/** The scripts of the board, in the order in which they need each other. */
const DRAW_MODE_FILES = [
  'src/page/cut_text.js',
  'src/page/selectors.js',
  ...['geometry', 'elements', 'nodes', 'marks', 'drawing_view', 'tool_bar', 'note_field',
    'event_shield', 'styles', 'pose', 'input', 'board']
    .map((name) => `src/draw_mode/page/${name}.js`),
];

const PAGE_LIMITS = {
  annotations: ANNOTATIONS,
  noteChars: NOTE_CHARS,
  textChars: ELEMENT_TEXT_CHARS,
  styleChars: STYLE_CHARS,
  paintPatienceMs: PAINT_PATIENCE_MS,
  typingPauseMs: TYPING_PAUSE_MS,
};

/**
 * Draw mode: people mark places of a page and write notes on them. This part is in the service
 * worker and may be ended at any time; what is drawn is in the store that `drawings()` promises.
 *
 * A drawing belongs to its page. When that is loaded again, by a reload or by going back to it, the
 * board is back with all marks; on another page, or with the tab closed, a drawing with marks
 * waits in the popup to be sent or discarded. One without marks goes along to the next page.
 */
export function createDrawMode({ browser, drawings, pageScripts, captures, newId, log }) {
  const lanes = createTabLanes();
  let post = null;

  /** Shows the drawing in its tab, where it may be shown already. */
  async function show({ id, tabId, message, annotations }) {
    await browser.scripting.executeScript({ target: { tabId }, files: DRAW_MODE_FILES });
    const given = { id, message, annotations, limits: PAGE_LIMITS };
    const { url, data } = await pageScripts.run(tabId, openBoardHere, [given]);
    const { already, ...seen } = data;
    await (await drawings()).change(id, { ...seen, left: false });
    return { url, already };
  }

  async function boardIsOpen({ tabId, id }) {
    return (await pageScripts.run(tabId, boardIsOpenHere, [id])).data;
  }

  function belongsTo(drawing, url) {
    return drawing.annotations.length === 0 || samePage(drawing.url, url);
  }

  /** The drawing that the tab has, or a new one, with what is asked now added to it. */
  async function drawingFor(tab, { message, session, correlation_ids: ids }) {
    const store = await drawings();
    let drawing = store.underWayIn(tab.id);
    const open = drawing && (await boardIsOpen(drawing).catch(() => false));
    if (!drawing || !(open || belongsTo(drawing, tab.url))) {
      if (drawing) await store.change(drawing.id, { left: true });
      drawing = await store.add({ id: newId(), tabId: tab.id, url: tab.url, title: tab.title });
    }
    const correlationIds = [...new Set([...(drawing.correlationIds ?? []), ...(ids ?? [])])];
    return store.change(drawing.id, {
      message: message ?? drawing.message,
      session: session ?? drawing.session,
      correlationIds: correlationIds.length ? correlationIds.slice(0, DRAWING_WAITERS) : undefined,
    });
  }

  async function bringToFront({ id, windowId, active }) {
    if (!active) await browser.tabs.update(id, { active: true });
    await browser.windows.update(windowId, { drawAttention: true });
  }

  /** Switches draw mode on in the tab; `asked` is `{message, session, correlation_ids}`. */
  async function start(tab, asked = {}) {
    const store = await drawings();
    const drawing = await drawingFor(tab, asked);
    try {
      const { url, already } = await show(drawing);
      await bringToFront(tab).catch((error) => log(`Draw mode stays behind: ${error.message}`));
      return { url, data: { started: true, ...(already && { already }), tab_id: tab.id, url: toldAddress(url) } };
    } catch (error) {
      if (drawing.annotations.length === 0) await store.remove(drawing.id);
      throw error;
    }
  }

  /** Done was pressed, now or before the service worker was last ended. */
  async function finish(id) {
    const store = await drawings();
    const drawing = store.get(id);
    if (drawing?.state !== 'finishing') return;
    const pictures = await takePictures(drawing, { browser, pageScripts, captures, log })
      .catch((error) => log(`The drawing goes without pictures: ${error.message}`));
    await store.change(id, { state: 'sending', left: false, pictures });
    await closeBoard(drawing);
    if (post) quietly(post.deliver(drawing));
  }

  /** The page may be gone; then there is nothing to close. */
  function closeBoard({ tabId, id }) {
    return pageScripts.run(tabId, closeBoardHere, [id]).catch(() => {});
  }

  async function forget(id) {
    const store = await drawings();
    const drawing = store.get(id);
    if (!drawing) return;
    await store.remove(id);
    await closeBoard(drawing);
  }

  /** What the board says. Only the page of a drawing may speak of it. */
  async function heard({ what, id, url, title, annotations, viewport }, tabId) {
    const store = await drawings();
    const drawing = store.get(id);
    if (drawing?.tabId !== tabId) {
      throw new Error('This drawing was already sent or discarded from the popup.');
    }
    if (what === 'cancel') return store.remove(id);
    if (drawing.state === 'drawing') {
      const state = what === 'done' ? 'finishing' : 'drawing';
      await store.change(id, { state, url, title, annotations, viewport });
    }
    await finish(id);
  }

  /** A page has been loaded in the tab: the board comes back where it belongs. */
  async function pageLoaded(tab) {
    const store = await drawings();
    const drawing = store.underWayIn(tab.id);
    if (!drawing) return;
    // The browser may have kept the whole page for the way back, or have loaded nothing at all.
    if (await boardIsOpen(drawing).catch(() => false)) {
      if (drawing.left) await store.change(drawing.id, { left: false });
    } else if (belongsTo(drawing, tab.url)) {
      await show(drawing);
    } else {
      await store.change(drawing.id, { left: true });
    }
  }

  async function tabClosed(tabId) {
    const store = await drawings();
    const drawing = store.underWayIn(tabId);
    if (!drawing) return;
    if (drawing.annotations.length === 0) await store.remove(drawing.id);
    else await store.change(drawing.id, { left: true });
  }

  const inTurn = (tabId, work) => lanes.enter(tabId, work);
  const quietly = (work) => work.catch((error) => log(`Draw mode: ${error.message}`));

  return {
    start: (tab, asked) => inTurn(tab.id, () => start(tab, asked)),

    /** Posts what is finished, and all that will be, with this from now on. */
    async postWith(drawingPost) {
      post = drawingPost;
      for (const drawing of (await drawings()).all()) {
        const { id, tabId, state } = drawing;
        if (state === 'finishing') quietly(inTurn(tabId, () => finish(id)));
        else if (state !== 'drawing') quietly(drawingPost.deliver(drawing));
      }
    },

    /** Drawings that wait for a person's decision, for the popup. */
    async waiting() {
      return (await drawings()).all()
        .filter(({ left, state }) => left || state !== 'drawing')
        .map(({ id, title, url, state, error, annotations }) =>
          ({ id, title, url, state, error, count: annotations.length }));
    },

    /** Sends a drawing as it is. */
    async send(id) {
      const drawing = await (await drawings()).change(id, { state: 'sending', left: false });
      if (drawing && post) quietly(post.deliver(drawing));
    },

    forget,

    heard: (message, tabId) => inTurn(tabId, () => heard(message, tabId)),

    /** Keeps an eye on tabs. To be called when the service worker starts. */
    watchTabs() {
      browser.tabs.onUpdated.addListener((tabId, { status }, tab) => {
        if (status === 'complete') quietly(inTurn(tabId, () => pageLoaded(tab)));
      });
      browser.tabs.onRemoved.addListener((tabId) => {
        quietly(inTurn(tabId, () => tabClosed(tabId)));
      });
    },
  };
}

/** True for two addresses of one document: what follows the `#` is a place within it. */
export function samePage(a, b) {
  const document = (url) => String(url).split('#')[0];
  return document(a) === document(b);
}
