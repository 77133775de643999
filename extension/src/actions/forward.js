import { historyAction } from '../history.js';

/** Goes one page forward in the history of the tab. */
export const forward = historyAction('forward', 1);
