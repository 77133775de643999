import { once } from 'node:events';
import { createServer } from 'node:http';
import { chatCompletions } from './chat_completions.js';
import { generateContent } from './generate_content.js';
import { responses } from './responses.js';
import { nextMoves } from './script.js';

const MAX_BODY_BYTES = 16 << 20;
/** The number of recorded requests that did not fit, for the message of a failing test. */
const MAX_REFUSALS = 20;

/** The supported APIs: each reads its requests and writes its answers. */
const WIRES = [chatCompletions, responses, generateContent];

/**
 * A model for agents, on loopback: follows the script in the user's message (script.js), over the
 * API of the agent's choice. It needs no key, and its only state is the holds of tests.
 */
export class FakeModel {
  /**
   * One entry for each request with tools: `{wire, tools, script, prompts, results}`; `prompts`
   * counts the scripts.
   */
  asked = [];
  /** Requests with an unknown path, as `METHOD path`. */
  refused = [];
  #held = new Map();

  static async open() {
    const model = new this();
    model.server = createServer((request, response) => {
      model.#answer(request, response).catch((error) => {
        model.#refuse(`${request.method} ${request.url}: ${error.stack}`);
        response.destroy();
      });
    });
    model.server.listen(0, '127.0.0.1');
    await once(model.server, 'listening');
    model.url = `http://127.0.0.1:${model.server.address().port}`;
    return model;
  }

  /** Resolves once a script has reached `{hold: name}`. */
  reached(name) {
    return this.#hold(name).reached;
  }

  /** Lets scripts continue that are, or will be, at `{hold: name}`. */
  release(name) {
    this.#hold(name).release();
  }

  async close() {
    const closed = once(this.server, 'close');
    this.server.close();
    this.server.closeAllConnections();
    await closed;
  }

  #hold(name) {
    if (!this.#held.has(name)) {
      const hold = {};
      hold.reached = new Promise((resolve) => { hold.reach = resolve; });
      hold.released = new Promise((resolve) => { hold.release = resolve; });
      this.#held.set(name, hold);
    }
    return this.#held.get(name);
  }

  #refuse(what) {
    if (this.refused.length < MAX_REFUSALS) this.refused.push(what);
  }

  async #answer(request, response) {
    const wire = WIRES.find(({ path }) => path.test(request.url));
    if (request.method !== 'POST' || !wire) {
      this.#refuse(`${request.method} ${request.url}`);
      return response.writeHead(404, { 'Content-Type': 'application/json' })
        .end('{"error":{"message":"The fake model does not know this path."}}');
    }
    const question = wire.read(await bodyOf(request), request.url);
    // Agents also ask for titles and summaries: without tools.
    const moves = question.tools.length === 0 ? [{ say: 'A title' }]
      : nextMoves(question.script, question.results);
    if (question.tools.length > 0) this.asked.push({ wire: wire.name, ...question });
    const writer = wire.write(response, question);
    for (const move of moves) {
      if ('hold' in move) {
        const hold = this.#hold(move.hold);
        hold.reach();
        await Promise.race([hold.released, once(response, 'close')]);
      } else if ('say' in move) {
        // In pieces, each an event of its own, as models do.
        for (const piece of move.say.match(/\s*\S+|\s+$/g) ?? []) writer.text(piece);
      } else {
        writer.call(move.call, move.args ?? {});
      }
    }
    writer.end();
  }
}

async function bodyOf(request) {
  const pieces = [];
  let size = 0;
  for await (const piece of request) {
    size += piece.length;
    if (size > MAX_BODY_BYTES) throw new Error('The body is too large.');
    pieces.push(piece);
  }
  return JSON.parse(Buffer.concat(pieces).toString('utf8'));
}
