/**
 * The cost of the page in a browser, with a real tracker and gateway: until it is shown, while a
 * long session is read and while events and commands stream in, with many tabs, and while idle.
 * Prints figures and judges one property: nothing may be lost or change its place.
 *
 *     CALLSLIP_BIN=build/release/bin node tests/bench/page_bench.mjs
 *
 * Times are those of this machine's clock, which the page also has; `main thread` is the share of
 * time in which the page's main thread was busy.
 */
import assert from 'node:assert/strict';
import { setTimeout as pause } from 'node:timers/promises';
import { recordLong } from '../e2e/support/long_session.js';
import { PageSetting } from '../e2e/support/page.js';
import { AgentSessions, until } from '../e2e/support/runner.js';
import { TrackerApi } from '../e2e/support/tracker_api.js';

const EVENTS = 10_000;
const SESSIONS = 500;
const STREAM_S = Number(process.env.CALLSLIP_BENCH_PAGE_S ?? 60);
const EVENTS_A_SECOND = 200;
const CHANGES_A_SECOND = 500;
const SINGLE_EVENTS = 100;
const SWITCHES = 100;
const PIECES = 1_000;
const PIECE = 'x'.repeat(44) + ' **b** ';

function printRow(name, figure, unit, more = '') {
  console.log(`${name.padEnd(58)}${String(figure).padStart(10)} ${unit.padEnd(4)} ${more}`);
}

function percentile(numbers, percent) {
  const sorted = [...numbers].sort((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor((sorted.length * percent) / 100))];
}

/**
 * Records in the page when texts `mark N` enter the document, and, on request, the times of frames.
 */
const WATCH = () => {
  window.marks = new Map();
  const look = (node) => {
    for (const [, mark] of (node.textContent ?? '').matchAll(/mark (\d+)\b/g)) {
      if (!window.marks.has(mark)) window.marks.set(mark, Date.now());
    }
  };
  new MutationObserver((changes) => {
    for (const { addedNodes, target, type } of changes) {
      if (type === 'characterData') look(target);
      for (const node of addedNodes) look(node);
    }
  }).observe(document, { childList: true, characterData: true, subtree: true });
  window.noteFrames = () => {
    window.frames = [];
    let before = performance.now();
    const frame = (now) => {
      window.frames.push(now - before);
      before = now;
      requestAnimationFrame(frame);
    };
    requestAnimationFrame(frame);
  };
};

class Tab {
  static async open(setting, path, { watched = true } = {}) {
    const tab = new this();
    tab.person = await setting.person();
    tab.page = await tab.person.context.newPage();
    tab.client = await tab.page.context().newCDPSession(tab.page);
    await tab.client.send('Performance.enable');
    if (watched) await tab.page.addInitScript(WATCH);
    await tab.page.goto(setting.url(path));
    return tab;
  }
  async metric(name) {
    const { metrics } = await this.client.send('Performance.getMetrics');
    return metrics.find((each) => each.name === name).value;
  }
  /** MB, after a garbage collection. */
  async heap() {
    await this.client.send('HeapProfiler.collectGarbage');
    return (await this.metric('JSHeapUsedSize')) / 1e6;
  }
  /** The share of the time of `work`, from 0 to 1, in which the main thread is busy. */
  async busy(work) {
    const [begun, spent] = [performance.now(), await this.metric('TaskDuration')];
    await work();
    return ((await this.metric('TaskDuration')) - spent) / ((performance.now() - begun) / 1e3);
  }
  marks() {
    return this.page.evaluate(() => Object.fromEntries(window.marks));
  }
  async frames(work) {
    await this.page.evaluate(() => window.noteFrames());
    await work();
    return this.page.evaluate(() => window.frames);
  }
  close() {
    return this.person.close();
  }
}

const message = (text) => ({ type: 'agent_message', data: { text, message_id: text } });

class Bench {
  static async open() {
    const bench = new this();
    bench.setting = await PageSetting.open({ runner: false });
    bench.sessions = new AgentSessions(bench.setting.services, null);
    bench.tracker = new TrackerApi(bench.setting.services.tracker.address);
    bench.setting.services.onClose(async () => bench.tracker.close());
    return bench;
  }

  append(id, events) {
    return this.sessions.call('POST', `/sessions/${id}/events`, { events });
  }

  async first() {
    for (let i = 0; i < SESSIONS; i += 1) {
      await this.sessions.call('POST', '/sessions', { name: `Session ${i}`, start: false });
    }
    const tab = await Tab.open(this.setting, 'sessions');
    await tab.page.getByText('Session 499').first().waitFor();
    const listed = await tab.page.evaluate(() => performance.now());
    const paint = () => tab.page.evaluate(() => performance.getEntriesByName('first-contentful-paint')[0].startTime);
    printRow('cold: first contentful paint', (await paint()).toFixed(0), 'ms');
    printRow(`cold: ${SESSIONS} sessions listed`, listed.toFixed(0), 'ms', 'seen from outside, at most so late');
    await tab.page.reload();
    await tab.page.getByText('Session 499').first().waitFor();
    const sizes = await tab.page.evaluate(() => performance.getEntriesByType('resource')
      .filter(({ name }) => name.includes('/ui/assets/')).map(({ transferSize }) => transferSize));
    printRow('second visit: bytes of scripts and styles', sizes.reduce((sum, each) => sum + each, 0), 'B');
    printRow('second visit: first contentful paint', (await paint()).toFixed(0), 'ms');
    const idle = await tab.busy(() => pause(10_000));
    printRow('idle: main thread', (idle * 100).toFixed(2), '%');
    await tab.close();
  }

  async long() {
    const id = await recordLong(this.sessions, EVENTS);
    const tab = await Tab.open(this.setting, 'sessions');
    const link = tab.page.locator(`[data-session-id="${id}"]`);
    await link.waitFor();
    let begun = performance.now();
    await link.click();
    await tab.page.locator(`article[data-seq="${EVENTS + 1}"]`).waitFor();
    printRow(`${EVENTS} events: newest page seen`, (performance.now() - begun).toFixed(0), 'ms');
    const feed = tab.page.getByRole('feed', { name: 'Conversation' });
    begun = performance.now();
    await feed.press('Home');
    await until(async () => {
      if (await tab.page.locator('article[data-seq="1"]').count()) return true;
      await feed.press('Home');
      return false;
    }, 120_000);
    printRow(`${EVENTS} events: first one seen by Home`, (performance.now() - begun).toFixed(0), 'ms');
    printRow('heap with all of them', (await tab.heap()).toFixed(1), 'MB');
    await tab.page.keyboard.press('Shift+G');
    await feed.hover();
    const frames = await tab.frames(async () => {
      for (let at = 0; at < 300; at += 1) {
        await tab.page.mouse.wheel(0, -400);
        await pause(16);
      }
    });
    printRow('scrolled by wheel: frame', percentile(frames, 95).toFixed(1), 'ms', `p95; the longest ${Math.max(...frames).toFixed(0)}`);
    await tab.close();
  }

  async switches() {
    const ids = [];
    for (let i = 0; i < 2; i += 1) ids.push(await recordLong(this.sessions, 200, `Switch ${i}`));
    const tab = await Tab.open(this.setting, `sessions/${ids[0]}`);
    const show = async (at) => {
      await tab.page.locator(`[data-session-id="${ids[at % 2]}"]`).click();
      await tab.page.getByRole('heading', { name: `Switch ${at % 2}` }).waitFor();
      await tab.page.locator('article[data-seq="201"]').waitFor();
    };
    for (let at = 1; at < 11; at += 1) await show(at);
    const before = await tab.heap();
    for (let at = 0; at < SWITCHES; at += 1) await show(at + 1);
    printRow(`heap after ${SWITCHES} more changes of session`, `+${((await tab.heap()) - before).toFixed(1)}`, 'MB');
    await tab.close();
  }

  async events() {
    const { session_id: id } = await this.sessions.call('POST', '/sessions', { name: 'Events', start: false });
    const tab = await Tab.open(this.setting, `sessions/${id}`);
    await until(async () => (await tab.page.getByRole('status', { name: 'Connection' }).textContent()).includes('live'));
    const stored = new Map();
    for (let at = 0; at < SINGLE_EVENTS; at += 1) {
      await this.append(id, [message(`mark ${at}`)]);
      stored.set(String(at), Date.now());
      await pause(50);
    }
    await until(async () => Object.keys(await tab.marks()).length >= SINGLE_EVENTS);
    const late = (marks, from) => Object.entries(marks).filter(([mark]) => Number(mark) >= from && stored.has(mark))
      .map(([mark, at]) => at - stored.get(mark));
    printRow('one event, stored → in the document', percentile(late(await tab.marks(), 0), 95).toFixed(0), 'ms', 'p95');

    const first = SINGLE_EVENTS;
    const count = EVENTS_A_SECOND * STREAM_S;
    const busy = await tab.busy(async () => {
      const begun = performance.now();
      for (let sent = 0; sent < count;) {
        const due = Math.min(count, Math.floor(((performance.now() - begun) / 1e3) * EVENTS_A_SECOND));
        if (due > sent) {
          const events = Array.from({ length: due - sent }, (_, i) => message(`mark ${first + sent + i}`));
          await this.append(id, events);
          for (let at = sent; at < due; at += 1) stored.set(String(first + at), Date.now());
          sent = due;
        }
        await pause(5);
      }
    });
    await until(async () => `mark ${first + count - 1}` && String(first + count - 1) in (await tab.marks()));
    printRow(`${EVENTS_A_SECOND} events/s for ${STREAM_S} s: stored → document`, percentile(late(await tab.marks(), first), 95).toFixed(0), 'ms', 'p95 of those that were drawn');
    printRow(`${EVENTS_A_SECOND} events/s for ${STREAM_S} s: main thread`, (busy * 100).toFixed(0), '%');
    printRow('heap after it', (await tab.heap()).toFixed(1), 'MB');
    const seqs = await tab.page.locator('article[data-seq]').evaluateAll((all) => all.map((each) => Number(each.dataset.seq)));
    assert.deepEqual(seqs, [...new Set(seqs)].sort((a, b) => a - b), 'something is there twice, or out of order');
    await tab.close();
  }

  async answer() {
    const { session_id: id } = await this.sessions.call('POST', '/sessions', { name: 'Answer', start: false });
    const tab = await Tab.open(this.setting, `sessions/${id}`);
    await until(async () => (await tab.page.getByRole('status', { name: 'Connection' }).textContent()).includes('live'));
    const spent = await tab.metric('TaskDuration');
    for (let at = 0; at < PIECES; at += 1) {
      const text = at % 20 === 19 ? `${PIECE}\n\n` : PIECE;
      await this.append(id, [{ type: 'agent_message', data: { text: at === PIECES - 1 ? `${text}mark 7` : text, message_id: 'm' } }]);
    }
    await until(async () => '7' in (await tab.marks()));
    printRow(`an answer of ${Math.round((PIECES * PIECE.length) / 1e3)} KB in ${PIECES} pieces: main thread`,
      ((await tab.metric('TaskDuration')) - spent).toFixed(2), 's', 'in all');
    await tab.close();
  }

  async tabs() {
    const make = async (name) => (await this.sessions.call('POST', '/sessions', { name, start: false })).session_id;
    const shared = await make('Shared');
    const ids = [...Array(8).fill(shared), ...await Promise.all([1, 2, 3, 4].map((i) => make(`Other ${i}`)))];
    // In one browser, so that all tabs share its connections to the gateway.
    const { context } = await this.setting.person();
    await context.addInitScript(WATCH);
    const pages = await Promise.all(ids.map(async (id) => {
      const page = await context.newPage();
      await page.goto(this.setting.url(`sessions/${id}`));
      return page;
    }));
    for (const page of pages) {
      await until(async () => (await page.getByRole('status', { name: 'Connection' }).textContent()).includes('live'));
    }
    const ninth = await context.newPage();
    await ninth.goto(this.setting.url('sessions'));
    const took = await ninth.evaluate(async (id) => {
      const begun = performance.now();
      const answer = await fetch(`/api/sessions/${id}/queue`, { method: 'POST',
        headers: { 'Content-Type': 'application/json' }, body: '{"message":"from the ninth"}' });
      return answer.ok ? performance.now() - begun : Infinity;
    }, shared);
    printRow('12 tabs: a POST from one more', took.toFixed(0), 'ms');
    await this.sessions.call('POST', `/sessions/${shared}/permissions`, { title: 'mark 1', wait_ms: 0,
      options: [{ option_id: 'o', name: 'Yes', kind: 'allow_once' }] });
    for (const page of pages.slice(0, 8)) await page.getByRole('group', { name: 'Permission request' }).waitFor();
    await Promise.all(pages.slice(0, 8).map((page) => page.evaluate(() => {
      new MutationObserver(() => {
        if (!window.closed_at && !document.querySelector('[role=group][aria-label=Permission]')) window.closed_at = Date.now();
      }).observe(document, { childList: true, subtree: true });
    })));
    const { permissions: [{ permission_id: question }] } = await this.sessions.call('GET', `/sessions/${shared}/permissions`);
    const answered = Date.now();
    await this.sessions.call('POST', `/sessions/${shared}/permissions/${question}`, { option_id: 'o' });
    const closed = await Promise.all(pages.slice(0, 8).map((page) => until(() => page.evaluate(() => window.closed_at))));
    printRow('8 tabs: answered → closed in the last of them', Math.max(...closed) - answered, 'ms');
    await context.close();
  }

  async commands() {
    const tab = await Tab.open(this.setting, 'commands');
    await tab.page.getByText('No commands').waitFor();
    let changes = 0;
    const frames = await tab.frames(async () => {
      const begun = performance.now();
      // Each is four changes: registered, delivered, started, completed.
      while (performance.now() - begun < STREAM_S * 1e3) {
        const due = ((performance.now() - begun) / 1e3) * CHANGES_A_SECOND;
        if (changes >= due) {
          await pause(5);
          continue;
        }
        await Promise.all(Array.from({ length: 5 }, () => this.tracker.register({ target: 'bench' })));
        const leases = await this.tracker.lease('bench', 'w', { max_commands: 5 });
        await Promise.all(leases.map((lease) => this.tracker.acknowledge(lease)));
        await Promise.all(leases.map((lease) => this.tracker.complete(lease)));
        changes += 4 * leases.length;
      }
    });
    printRow(`${Math.round(changes / STREAM_S)} changes of commands/s for ${STREAM_S} s: frame`, percentile(frames, 95).toFixed(1), 'ms', `p95; the longest ${Math.max(...frames).toFixed(0)}`);
    await pause(500);
    const { commands } = await this.sessions.call('GET', '/commands?limit=20');
    for (const { correlation_id: id, status } of commands) {
      const row = tab.page.locator(`tr:has(a[data-id="${id}"])`);
      if (await row.count()) assert.equal(await row.getAttribute('data-status'), status, id);
    }
    await tab.close();
  }
}

const bench = await Bench.open();
try {
  for (const part of ['first', 'events', 'answer', 'tabs', 'switches', 'long', 'commands']) await bench[part]();
} finally {
  await bench.setting.close();
}
