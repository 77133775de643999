import assert from 'node:assert/strict';
import { Proxy } from '../../e2e/support/proxy.js';
import { until } from '../../e2e/support/runner.js';
import { Services } from '../../e2e/support/services.js';
import { stretched } from '../../support/patience.js';
import { Turns } from './turns.js';

/**
 * The rules of the first runner, and those of the second, which has the same agent and folder and
 * allows more.
 */
const WORKSPACES = [{ permissions: { default: 'reject_once' } }, { permissions: { default: 'allow_once' } }];
const CHILDREN = 3;
/** Longer than a lease and a start, in ms. */
const PATIENCE_MS = stretched(20_000);

/** Sessions made by an agent of the first of two runners, to which messages are sent. */
export class Family {
  /**
   * A call of the tool `session` as the parent's agent; valid until the session has another runner.
   */
  tool;

  static async open(context, { children = CHILDREN } = {}) {
    const family = new Family();
    family.services = await Services.open();
    context.after(() => family.services.close());
    family.links = await Promise.all(WORKSPACES.map(() => Proxy.start(family.services.tracker.address)));
    context.after(() => family.links.forEach((link) => link.stop()));
    family.turns = await Turns.open(family.services, {
      trackers: family.links.map(({ address }) => address), workspaces: WORKSPACES, sessions: 0, asks: true,
      more: { gateway: family.services.gatewayUrl } });
    // A frozen process would not end on SIGTERM.
    family.services.onClose(async () => family.runners.forEach(({ child }) => child.kill('SIGCONT')));
    ({ sessions: family.sessions, ids: family.children, runners: family.runners } = family.turns);
    family.parent = await family.sessions.begin();
    family.tool = await family.sessions.toolOf(family.parent);
    for (let i = 0; i < children; i += 1) await family.turns.add(await family.make());
    await family.areAt('runner-0', [family.parent, ...family.children]);
    return family;
  }

  /** Makes another child of the parent, which has answered its first message. */
  async make() {
    const { result } = await this.tool({ what: 'new', message: 'hello', wait_ms: 30_000 });
    assert.equal(result.outcome, 'completed', JSON.stringify(result));
    return result.session_id;
  }

  /** The same after the parent's agent was replaced: the new one has a token of its own. */
  async makeAgain() {
    this.tool = await this.sessions.toolOf(this.parent);
    return this.make();
  }

  /**
   * A session that a person makes as a child of another one; its agent runs at the less busy
   * runner.
   */
  async adopt(parent) {
    const id = await this.sessions.begin({ parent_session_id: parent });
    await until(async () => (await this.sessions.agent(id))?.status === 'idle');
    return id;
  }

  /**
   * Begins to send messages; the returned function ends that, once each message's turn has ended.
   */
  talk() {
    const over = new AbortController();
    const talked = this.turns.keepOn(over.signal);
    talked.catch(() => {});
    return () => {
      over.abort();
      return talked;
    };
  }

  /** Waits until a child is in a turn. */
  isAsked() {
    return until(async () => (await this.#states()).some(({ turn_id: turn }) => turn !== undefined));
  }

  /**
   * Waits until no runner has any of the children, and each has a message that only waits for a
   * runner.
   */
  wait() {
    return until(async () => (await this.#states()).every(({ agent, turn_id: turn, pause_reason: reason,
      queue_length: length }) => runnerOf(agent) === '' && agent.status === 'none' && turn === undefined &&
      reason === undefined && length > 0), PATIENCE_MS);
  }

  /** Waits until each child is at that runner. */
  come(runner) {
    return until(async () => (await this.#states()).every(({ agent }) => runnerOf(agent) === runner), PATIENCE_MS);
  }

  /** The runner of a session; '' if there is none. */
  async runnerOf(id) {
    return runnerOf(await this.sessions.agent(id));
  }

  /** Fails unless these sessions, by default the children, are at that runner; '': at none. */
  async areAt(runner, ids = this.children) {
    assert.deepEqual(await Promise.all(ids.map((id) => this.runnerOf(id))), ids.map(() => runner));
  }

  /** The answers to the children's permission requests, and who decided: each combination once. */
  async answers() {
    const events = (await Promise.all(this.children.map((id) => this.sessions.events(id)))).flat();
    const told = events.filter(({ type }) => type === 'permission')
      .map(({ data }) => `${data.selected_option} by ${data.decided_by}`);
    return [...new Set(told)];
  }

  #states() {
    return Promise.all(this.children.map((id) => this.sessions.call('GET', `/sessions/${id}`)));
  }
}

const runnerOf = (agent) => agent?.runner_id ?? '';
