/**
 * The models of some clients see only the text of an answer, those of others only its structure.
 * Two players do the same tasks, one with the texts and one with the structures.
 */
import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import { once } from 'node:events';
import { after, before, describe, test } from 'node:test';
import { stretched } from '../support/patience.js';
import { AGENTS_PAGES } from './support/agents_pages.js';
import { House } from './support/house.js';

const SEES = {
  'the text': ({ content }) =>
    content.filter(({ type }) => type === 'text').map(({ text }) => text).join('\n'),
  'the structured content': ({ structuredContent }) =>
    structuredContent.result?.page ?? JSON.stringify(structuredContent),
};

let house;
let server;
let origin;

before(async () => {
  house = await House.open();
  server = createServer(({ url }, response) => {
    const body = AGENTS_PAGES[new URL(url, 'http://x').pathname];
    response.writeHead(body ? 200 : 404, { 'Content-Type': 'text/html; charset=utf-8' }).end(body);
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  origin = `http://127.0.0.1:${server.address().port}`;
});
after(async () => {
  server?.close();
  await house?.close();
});

for (const [name, see] of Object.entries(SEES)) {
  describe(`a model that sees only ${name}`, () => {
    let agent;
    before(async () => {
      agent = await house.agentOverBridge();
      await house.browser.open(`${house.pages.url}/second`);
    });

    const check = (task, work) => test(task, { timeout: stretched(60_000) }, () => house.step(work));
    const call = async (tool, args) => see(await agent.call(tool, { wait_ms: 15_000, ...args }));
    const act = (action, args) => call('interact', { action, ...args });
    const look = (args) => call('analyze', { what: 'page', ...args });

    /** The ref in the line that begins with this text. */
    const refOf = (said, what) => {
      const [, ref] = said.split('\n').flatMap((line) => [/(?:^|[ |])(e\d+) (.*)/.exec(line)])
        .filter(Boolean).find(([, , rest]) => rest.startsWith(what)) ?? [];
      assert.ok(ref, `${what} in ${said}`);
      return ref;
    };

    check('signs up', async () => {
      await act('navigate', { url: `${origin}/signup` });
      const page = await look();
      await act('fill', {
        fields: {
          [refOf(page, 'textbox Name')]: 'Ada',
          [refOf(page, 'textbox E-mail')]: 'ada@example.com',
          [refOf(page, 'combobox Country')]: 'Germany',
          [refOf(page, 'checkbox I accept')]: true,
        },
      });
      await act('click', { selector: refOf(page, 'button Create account') });
      assert.match(await look(), /Welcome, Ada from Germany!/);
    });

    check('receives the error code and how to continue', async () => {
      const gone = await act('click', { selector: 'button.gone' });
      assert.match(gone, /element_not_found/);
      assert.match(gone, /analyze|query/);
      const wrong = await act('click', {});
      assert.match(wrong, /invalid_arguments/);
      assert.match(wrong, /selector/);
    });

    check('finds one row of many', async () => {
      await act('navigate', { url: `${origin}/orders` });
      const found = await call('analyze', { what: 'find', text: '#1042' });
      assert.match(found, /#1042 \| Cy Diaz \| 62\.00 \| paid/);
      assert.match(found, /e\d+ button Refund/);
    });

    check('lists its tabs, and gets a later result by its id', async () => {
      const tabs = await call('analyze', { what: 'tabs' });
      const { tabs: list } = JSON.parse(tabs.slice(tabs.indexOf('{"'))).result
        ?? JSON.parse(tabs.slice(tabs.indexOf('{"')));
      const { tab_id: tabId } = list.find(({ url }) => url.endsWith('/orders'));
      const queued = await call('interact', {
        action: 'execute_js', script: '6 * 7', tab_id: tabId, wait_ms: 0,
      });
      const [id] = /corr-\d+-[0-9a-f]+/.exec(queued) ?? [];
      assert.ok(id, queued);
      const answer = await call('observe', { what: 'command_result', correlation_id: id });
      assert.match(answer, /\b42\b/);
    });
  });
}
