import { things } from './said.js';

/** The wait of each call, long enough for a busy machine, in ms. */
const WAIT_MS = 20_000;

/** Actions that only read, and the prefixes of answer lines that are not the page's text. */
const LOOKS = new Set(['query', 'execute_js']);
const REPORTED = /^[+~-] /;

const textOf = ({ content }) =>
  content.filter(({ type }) => type === 'text').map(({ text }) => text).join('\n');

/** A player that uses only the tools, and knows only their answers about the page. */
export class Player {
  /** `tokens(text)` counts tokens; `say(line)` gets each call and its answer. */
  constructor(agent, { tokens, say = () => {} }) {
    this.agent = agent;
    this.tokens = tokens;
    this.say = say;
  }

  /** Opens a task. The player knows only this answer. */
  async open(url) {
    this.calls = 0;
    /** The tokens of each answer to an action. */
    this.answers = [];
    this.heard = [];
    await this.act('navigate', { url });
    // The task is the first text of the page, after the report of the action and the address.
    this.task = this.lines().find((line) => !/^e\d+ /.test(line)) ?? '';
  }

  /** Carries out an action, and returns its answer. */
  async act(action, args = {}) {
    const text = await this.#call('interact', { action, ...args });
    if (!LOOKS.has(action)) this.answers.push(this.tokens(text));
    return text;
  }

  click(selector, more) {
    return this.act('click', { selector, ...more });
  }

  /** Several actions in one call: `['click', selector]` or `['fill', fields]`, or whole steps. */
  batch(...steps) {
    const whole = (step) => {
      if (!Array.isArray(step)) return step;
      const [action, what] = step;
      return { action, [action === 'fill' ? 'fields' : 'selector']: what };
    };
    return this.act('batch', { steps: steps.map(whole) });
  }

  look(args = {}) {
    return this.#call('analyze', { what: 'page', ...args });
  }

  /** The matching elements as `query` reports them, with the middle of each as `x` and `y`. */
  async query(args) {
    const text = await this.act('query', { limit: 100, ...args });
    const { elements } = JSON.parse(text.slice(text.indexOf('{')));
    return elements.map((element) => {
      const { x, y, width, height } = element.bounds;
      return { ...element, x: x + width / 2, y: y + height / 2 };
    });
  }

  /** The lines of an answer, by default the last: the page's text, without prefixes and indents. */
  lines(text = this.heard.at(-1)) {
    return text.split('\n').slice(1).filter((line) => !line.startsWith('→ '))
      .map((line) => line.replace(REPORTED, '').trim().replace(/^'/, ''));
  }

  /** All elements with a ref in the answers, the newest first: `{ref, role, name, rest}`. */
  things() {
    return this.heard.toReversed().flatMap((text) => things(text));
  }

  /**
   * The ref of an element by role and name, such as `button Submit`, in the newest answer with it.
   */
  ref(called) {
    const found = this.things().find(({ role, name }) =>
      called instanceof RegExp ? called.test(`${role} ${name}`) : `${role} ${name}`.trim() === called);
    if (!found) throw new Error(`Nothing is called ${called} in what was said.`);
    return found.ref;
  }

  /**
   * Reads the page itself for facts that no answer has: whether the task is done, and its pictures.
   */
  async peek(script) {
    const { calls } = this;
    const text = await this.#call('interact', { action: 'execute_js', script, view: 'none' });
    this.calls = calls;
    this.heard.pop();
    return JSON.parse(text.slice(text.indexOf('\n') + 1));
  }

  async #call(tool, args) {
    this.calls += 1;
    const answer = await this.agent.call(tool, { wait_ms: WAIT_MS, ...args });
    const text = textOf(answer);
    this.say(`> ${tool} ${JSON.stringify(args)}\n${text}`);
    this.heard.push(text);
    if (answer.isError) throw new Error(text);
    return text;
  }
}
