import {
  ANNOTATIONS, DRAWING_WAITERS, ELEMENT_TEXT_CHARS, NOTE_CHARS, PAINT_PATIENCE_MS, STYLE_CHARS,
  TYPING_PAUSE_MS,
} from '../limits.js';
import { createTabLanes } from '../tab_lanes.js';
import { boardIsOpenHere, closeBoardHere, openBoardHere } from './page/calls.js';
import { takePictures } from './pictures.js';
import { toldAddress } from '../told_page.js';

/** The scripts of the board, in order of their dependencies. */
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
 * Draw mode: a person marks places of a page and writes notes on them. This part is in the service worker
 * and may be ended at any time; the marks are in the store that `drawings()` resolves to.
 *
 * A drawing belongs to its page. When that page is loaded again, by a reload or by going back to it, the
 * board appears again with all marks; when another page is loaded or the tab is closed, a drawing with
 * marks waits in the popup to be sent or discarded. One without marks continues on the next page.
 */
export function createDrawMode({ browser, drawings, pageScripts, captures, newId, log }) {
  const lanes = createTabLanes();
  let post = null;

  /** Shows the drawing in its tab, unless it is already shown. */
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

  /** The drawing of the tab, or a new one, with the current request added to it. */
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

  /** Completes a drawing for which Done was pressed, now or before the service worker was last ended. */
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

  /** If the page is gone, there is nothing to close. */
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

  /** Handles a message of the board. Only the tab of a drawing may send messages about it. */
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

  /** Called when a page has loaded in the tab: the board appears again on its own page. */
  async function pageLoaded(tab) {
    const store = await drawings();
    const drawing = store.underWayIn(tab.id);
    if (!drawing) return;
    // The browser may have kept the whole page for going back, or have loaded nothing at all.
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

    /** From now on posts finished drawings with this, beginning with those that wait. */
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

    /** Observes tabs. Must be called when the service worker starts. */
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

/** True for two addresses of one document: the fragment is a place within it. */
export function samePage(a, b) {
  const document = (url) => String(url).split('#')[0];
  return document(a) === document(b);
}
