import { setTimeout as pause } from 'node:timers/promises';

/**
 * The shortest fault, in ms; half of the faults are shorter than SHORT_MS, in which no tracker is
 * replaced.
 */
const SHORTEST_MS = 500;
const SHORT_MS = 1_500;
/** The delay of each piece on a slow link, in ms. */
const DELAY_MS = [20, 300];

async function last(random, longestMs) {
  await pause(random.chance(0.5)
    ? random.between(SHORTEST_MS, SHORT_MS) : random.between(SHORT_MS, longestMs));
}

async function freeze(server, random, longestMs) {
  await server.freeze();
  await last(random, longestMs);
  server.thaw();
}

async function silence(links, random, longestMs) {
  for (const link of links) link.silence();
  await last(random, longestMs);
  for (const link of links) link.heal();
}

async function slow(links, random, longestMs) {
  for (const link of links) link.delayMs = random.between(...DELAY_MS);
  await last(random, longestMs);
  for (const link of links) link.heal();
}

/** A tracker other than the owner. */
async function anotherThanOwner(fleet) {
  return (await fleet.owner() + 1) % fleet.trackers.length;
}

/**
 * The faults of a fleet over a database, with links: each takes the fleet, a Random, and its
 * longest duration in ms. The caller repairs the rest with fleet.restore().
 */
export const CLUSTER_FAULTS = {
  async ownerKilled(fleet) {
    await fleet.trackers[await fleet.owner()].kill();
  },
  async ownerFrozen(fleet, random, longestMs) {
    await freeze(fleet.trackers[await fleet.owner()], random, longestMs);
  },
  async ownerStopped(fleet) {
    await fleet.trackers[await fleet.owner()].stop();
  },
  async ownerCutOff(fleet, random, longestMs) {
    await silence(fleet.databaseLinks[await fleet.owner()], random, longestMs);
  },
  async ownerDisconnected(fleet) {
    for (const link of fleet.databaseLinks[await fleet.owner()]) link.cut();
  },
  async databaseSlow(fleet, random, longestMs) {
    await slow(fleet.databaseLinks.flat(), random, longestMs);
  },
  async takeoverFrozen(fleet, random, longestMs) {
    await fleet.trackers[await fleet.owner()].kill();
    // A tracker that owns the cell, and does not serve yet.
    let next;
    while (next === undefined) {
      await pause(5);
      next = fleet.trackers.find((one) => one.child.exitCode === null && one.child.signalCode === null
        && /"event":"the cell is this tracker's"/.test(one.log));
    }
    await freeze(next, random, longestMs);
  },
  async standbyKilled(fleet) {
    await fleet.trackers[await anotherThanOwner(fleet)].kill();
  },
  async standbyFrozen(fleet, random, longestMs) {
    await freeze(fleet.trackers[await anotherThanOwner(fleet)], random, longestMs);
  },
  async gatewayKilled(fleet, random) {
    await fleet.killGateway(random.between(0, fleet.gateways.length));
  },
  async gatewayCutOff(fleet, random, longestMs) {
    await silence(random.pick(fleet.trackerLinks), random, longestMs);
  },
  async gatewaySlow(fleet, random, longestMs) {
    await slow(random.pick(fleet.trackerLinks), random, longestMs);
  },
  async databaseKilled(fleet, random) {
    await fleet.postgres.kill('primary');
    await pause(random.between(0, SHORTEST_MS));
    await fleet.postgres.startServer('primary');
  },
  async databaseFrozen(fleet, random, longestMs) {
    fleet.postgres.signal('primary', 'SIGSTOP');
    await last(random, longestMs);
    fleet.postgres.signal('primary', 'SIGCONT');
  },
  /** Nothing can be committed during this fault. */
  async databaseAlone(fleet, random, longestMs) {
    await fleet.postgres.kill('standby');
    await last(random, longestMs);
    await fleet.postgres.startServer('standby');
    await fleet.postgres.caughtUp();
  },
  async databaseFailsOver(fleet) {
    await fleet.postgres.kill('primary');
    await fleet.postgres.promote();
    await fleet.postgres.makeStandby();
  },
};
