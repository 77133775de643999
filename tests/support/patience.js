/**
 * How long tests wait for what has to come. Their deadlines are meant for the machine of
 * ctest/machine.mjs; before a run, that measures how much slower this one is, and each deadline is as
 * much longer. None is ever shorter.
 */
const FACTOR = Math.max(1, Number(process.env.CALLSLIP_STRETCH ?? 1));

/** A deadline of `ms` milliseconds, on this machine. */
export const stretched = (ms) => Math.round(ms * FACTOR);
