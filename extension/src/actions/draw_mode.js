import { DRAWING_WAITERS, DRAW_MESSAGE_CHARS, ID_CHARS } from '../limits.js';
import { optionalText, optionalTexts } from '../params.js';

/** Asks the person at the browser to mark places of the page; does not wait for the marks. */
export const drawMode = {
  check(params) {
    optionalText(params, 'message', DRAW_MESSAGE_CHARS);
    optionalText(params, 'session', ID_CHARS);
    optionalTexts(params, 'correlation_ids', DRAWING_WAITERS, ID_CHARS);
  },

  run({ tab, params, tools }) {
    return tools.drawMode.start(tab, params);
  },
};
