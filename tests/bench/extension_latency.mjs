/**
 * The time from an agent's call to its code running in a page, and to its answer, through real
 * parts only: MCP client, gateway, tracker, extension, Chromium. Prints medians and judges nothing.
 *
 *     CALLSLIP_BIN=build/release/bin node tests/bench/extension_latency.mjs
 *
 * The extension holds its polls. A poll each second is the alternative at a gateway that holds
 * none: a proxy between the two removes `wait` from the polls, and delays each until a second after
 * the previous one.
 */
import { once } from 'node:events';
import { createServer, request as sendRequest } from 'node:http';
import { House } from '../e2e/support/house.js';

const HELD_ROUNDS = 100;
const ACTION_ROUNDS = 20;
const POLLED_ROUNDS = 30;

const POLL_EACH_MS = 1_000;
const ACTION_MS = 500;

const WARM_UP = { action: 'execute_js', script: '1' };

/** How long an agent waits for an answer in one call, in ms. */
const WAIT_MS = 8_000;

/** A proxy before the gateway that makes its polls short and rare. */
async function startShortPolls(gatewayUrl) {
  let nextAt = 0;
  const server = createServer(async (incoming, response) => {
    const url = new URL(incoming.url, gatewayUrl);
    if (url.pathname === '/pending-queries') {
      url.searchParams.delete('wait');
      const waitMs = nextAt - performance.now();
      nextAt = Math.max(nextAt, performance.now()) + POLL_EACH_MS;
      if (waitMs > 0) await new Promise((resolve) => setTimeout(resolve, waitMs));
    }
    const headers = { ...incoming.headers, host: url.host };
    const outgoing = sendRequest(url, { method: incoming.method, headers }, (answer) => {
      response.writeHead(answer.statusCode, answer.headers);
      answer.pipe(response);
    });
    outgoing.on('error', () => response.destroy());
    incoming.pipe(outgoing);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${server.address().port}`,
    stop() {
      server.close();
      server.closeAllConnections();
    },
  };
}

/** Sets the extension's gateway, and waits until it has executed a command from there. */
async function pointAt(house, agent, serverUrl) {
  const set = (url) => chrome.storage.local.set({ serverUrl: url });
  await house.browser.worker.evaluate(set, serverUrl);
  await agent.run(WARM_UP);
}

/** The wall clock of this process, as `Date.now()` in the page, in ms. */
const wallNow = () => performance.timeOrigin + performance.now();

/** Calls once; returns when the code ran and when the answer arrived, in ms after the call. */
async function measure(agent, script) {
  const calledAt = wallNow();
  const { structuredContent } = await agent.call('interact', {
    action: 'execute_js',
    script,
    wait_ms: WAIT_MS,
  });
  const answeredAt = wallNow();
  const ranAt = structuredContent.result;
  return { ran: ranAt - calledAt, answered: answeredAt - calledAt };
}

/** The page's clock is exact to 0.1 ms and began with the same wall clock. */
const NOW = 'performance.timeOrigin + performance.now()';
const AT_ONCE = NOW;
const LONG = `
  const at = ${NOW};
  await new Promise((resolve) => setTimeout(resolve, ${ACTION_MS}));
  return at;`;

/** Calls repeatedly, up to `spreadMs` after each other, so as not to keep step with polls. */
async function measureMany(agent, script, rounds, spreadMs = 0) {
  const times = [];
  for (let round = 0; round < rounds; round += 1) {
    await new Promise((resolve) => setTimeout(resolve, Math.random() * spreadMs));
    times.push(await measure(agent, script));
  }
  return times;
}

function percentile(numbers, percent) {
  const sorted = [...numbers].sort((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor((sorted.length * percent) / 100))];
}

function printRow(name, count, cells) {
  const figures = cells.map((cell) => cell.padStart(14)).join('');
  console.log(`${name.padEnd(34)}${String(count).padStart(6)}${figures}`);
}

function print(name, times) {
  const cells = [times.map(({ ran }) => ran), times.map(({ answered }) => answered)].flatMap(
    (each) => [50, 90].map((percent) => percentile(each, percent).toFixed(1)),
  );
  printRow(name, times.length, cells);
}

const house = await House.open();
try {
  const agent = await house.agentOverHttp();
  await house.browser.open(`${house.pages.url}/`);
  await agent.run(WARM_UP);

  const head = ['runs p50 ms', 'p90 ms', 'answer p50 ms', 'p90 ms'];
  printRow('agent → page, and its answer', 'calls', head);
  print('held poll', await measureMany(agent, AT_ONCE, HELD_ROUNDS));
  const action = `action of ${ACTION_MS / 1000} s`;
  print(`held poll, ${action}`, await measureMany(agent, LONG, ACTION_ROUNDS));

  const shortPolls = await startShortPolls(house.gatewayUrl);
  house.onClose(async () => shortPolls.stop());
  await pointAt(house, agent, shortPolls.url);
  print('poll each second', await measureMany(agent, AT_ONCE, POLLED_ROUNDS, POLL_EACH_MS));
  const polled = await measureMany(agent, LONG, POLLED_ROUNDS, POLL_EACH_MS);
  print(`poll each second, ${action}`, polled);
} finally {
  await house.close();
}
