import { once } from 'node:events';
import { createServer } from 'node:http';
import { chatCompletions } from './chat_completions.js';
import { generateContent } from './generate_content.js';
import { responses } from './responses.js';
import { nextMoves } from './script.js';

const MAX_BODY_BYTES = 16 << 20;
/** Of those that did not fit, for the message of a test that fails. */
const MAX_REFUSALS = 20;

/** The APIs that it speaks, each with what fits its requests. */
const WIRES = [chatCompletions, responses, generateContent];

/**
 * A model for agents, on loopback: does what the script in the user's message says (script.js), over
 * the API that the agent asks it by. It needs no key, and has no state but what tests hold.
 */
export class FakeModel {
  /** Of each request that had tools: `{wire, tools, script, prompts, results}`; `prompts` counts the scripts. */
  asked = [];
  /** Requests that no wire knows, as `METHOD path`. */
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

  /** Resolves once a script has come to `{hold: name}`. */
  reached(name) {
    return this.#hold(name).reached;
  }

  /** Lets scripts go on that are, or will be, at `{hold: name}`. */
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
    // Agents ask for titles and summaries, too: without tools.
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
        // As models do: in pieces, each an event of its own.
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
