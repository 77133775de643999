import { historyAction } from '../history.js';

/** Goes one page back in the history of the tab. */
export const back = historyAction('back', -1);
