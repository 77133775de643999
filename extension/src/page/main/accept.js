/** Runs just before stand_ins.js in documents that begin while a command accepts dialogs. */
globalThis[Symbol.for('callslip.accept')] = true;
