/**
 * Measures the machine's current speed, relative to the machine for which the tests' deadlines are
 * chosen.
 */
import { spawn, spawnSync } from 'node:child_process';
import { closeSync, fsyncSync, mkdtempSync, openSync, rmSync, writeSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/**
 * The usual times in ms: on two idle cores of a virtual machine on an AMD EPYC, and a disk that
 * syncs within 5 ms.
 */
const USUAL = { loop: 300, start: 90, sync: 5 };
const MOST = 10;
const STARTS = 5;
const SYNCS = 10;
const LOOP = `const begun = performance.now();
  let sum = 0;
  for (let i = 0; i < 5e7; ++i) sum = (sum * 31 + i) | 0;
  console.log(performance.now() - begun, sum);`;

/** A loop of Node. Two at once, since a test runs beside a program under test. */
async function loop() {
  const times = await Promise.all([0, 1].map(async () => {
    let text = '';
    const child = spawn(process.execPath, ['-e', LOOP], { stdio: ['ignore', 'pipe', 'inherit'] });
    for await (const chunk of child.stdout) text += chunk;
    return parseFloat(text);
  }));
  return Math.max(...times);
}

function start() {
  const begun = performance.now();
  for (let i = 0; i < STARTS; ++i) spawnSync(process.execPath, ['-e', '0']);
  return (performance.now() - begun) / STARTS;
}

/** Syncs in the folder where tests put their data. */
function sync() {
  const folder = mkdtempSync(join(tmpdir(), 'callslip-sync-'));
  const file = openSync(join(folder, 'file'), 'w');
  try {
    const begun = performance.now();
    for (let i = 0; i < SYNCS; ++i) {
      writeSync(file, Buffer.alloc(4096));
      fsyncSync(file);
    }
    return (performance.now() - begun) / SYNCS;
  } finally {
    closeSync(file);
    rmSync(folder, { recursive: true });
  }
}

/** The measured times as multiples of the usual ones: {loop, start, sync}. */
export async function measureMachine() {
  const took = { loop: await loop(), start: start(), sync: sync() };
  return Object.fromEntries(Object.entries(took).map(([what, ms]) => [what, ms / USUAL[what]]));
}

/** The factor for the tests' deadlines: the largest multiple, but at least 1 and at most MOST. */
export const stretchOf = (machine) => Math.min(MOST, Math.max(1, ...Object.values(machine)));

/**
 * Lengthens the deadlines of this run's tests as this machine needs. CALLSLIP_STRETCH overrides it.
 */
export async function stretchDeadlines() {
  if (process.env.CALLSLIP_STRETCH) return;
  const machine = await measureMachine();
  process.env.CALLSLIP_STRETCH = stretchOf(machine).toFixed(2);
  const times = Object.entries(machine).map(([what, factor]) => `${what} ${factor.toFixed(1)}`).join(', ');
  console.log(`This machine takes, as parts of the usual time: ${times}. Deadlines of tests are `
    + `${process.env.CALLSLIP_STRETCH} times as long.`);
}
