/**
 * The deadlines of tests are meant for the machine of ctest/machine.mjs. Before a run, that script
 * measures how much slower this machine is, and each deadline is longer by that factor. None is
 * ever shorter.
 */
const FACTOR = Math.max(1, Number(process.env.CALLSLIP_STRETCH ?? 1));

/** A deadline of `ms` milliseconds, on this machine. */
export const stretched = (ms) => Math.round(ms * FACTOR);
