/** Runs just before relay.js in documents that begin while a command accepts dialogs. */
globalThis.callslipAccepts = true;
