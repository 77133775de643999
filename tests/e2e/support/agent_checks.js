import assert from 'node:assert/strict';
import { test } from 'node:test';

/**
 * The path of a command from an agent to a page and back, as tests. `setting()` returns `{agent,
 * page, pages, tabId, step}`; it is called when a test runs, not before.
 */
export function checkAgentToBrowser(setting) {
  const check = (name, work) => test(name, () => setting().step(() => work(setting())));

  check('the agent finds the four tools', ({ agent }) => {
    for (const name of ['interact', 'observe', 'analyze', 'session']) {
      assert.ok(agent.toolNames.includes(name), `${name} is not in ${agent.toolNames}`);
    }
  });

  check('a script is queued, and its result says where it ran', async ({ agent, page, tabId }) => {
    const id = await agent.submit({ action: 'execute_js', script: 'document.title' });
    const answer = await agent.collect(id);
    assert.equal(answer.status, 'complete', JSON.stringify(answer));
    assert.equal(answer.result, 'Test page');
    assert.equal(answer.tab_id, tabId);
    assert.equal(answer.url, page.url());
  });

  check('type and click change the page', async ({ agent, page }) => {
    await agent.run({ action: 'type', selector: '#name', text: 'from afar', clear: true });
    await agent.run({ action: 'click', selector: '#go' });
    assert.equal(await page.inputValue('#name'), 'from afar');
    assert.equal(await page.getAttribute('#go', 'data-clicks'), '1');
  });

  check('navigate, get_page and screenshot answer', async ({ agent, pages, tabId }) => {
    const url = `${pages.url}/second`;
    const moved = await agent.run({ action: 'navigate', url, tab_id: tabId });
    const { page, ...more } = moved.result;
    assert.deepEqual(more, {});
    assert.match(page, /\n→ .*\/second Second page\nYou have arrived\.$/);
    const read = await agent.run({ action: 'get_page' });
    assert.equal(read.result.text, 'You have arrived.');
    const [, image] = (await agent.call('interact', { action: 'screenshot', wait_ms: 8000 })).content;
    assert.equal(image.mimeType, 'image/png');
    assert.equal(Buffer.from(image.data, 'base64').subarray(1, 4).toString(), 'PNG');
  });

  check('a failing script is an error with a code', async ({ agent }) => {
    const id = await agent.submit({ action: 'execute_js', script: 'throw new Error("boo")' });
    const answer = await agent.collect(id);
    assert.equal(answer.status, 'error');
    assert.equal(errorOf(answer).code, 'script_error');
    assert.match(errorOf(answer).message, /boo/);
  });

  check('a script that never ends is a timeout after its own time', async ({ agent }) => {
    const script = 'new Promise(() => {})';
    const params = { action: 'execute_js', script, timeout_ms: 300 };
    const answer = await agent.collect(await agent.submit(params));
    assert.equal(answer.status, 'timeout');
    assert.equal(errorOf(answer).code, 'execution_timeout');
    assert.equal(errorOf(answer).may_have_executed, true);
  });

  check('a closed tab is an error, not another tab', async ({ agent }) => {
    const params = { action: 'execute_js', script: 'document.title', tab_id: 999_999 };
    const answer = await agent.collect(await agent.submit(params));
    assert.equal(answer.status, 'error');
    assert.equal(errorOf(answer).code, 'tab_gone');
  });

  check('an unknown tool is a protocol error', async ({ agent }) => {
    await assert.rejects(agent.call('dance', {}), (error) => {
      assert.equal(error.code, -32602);
      assert.match(error.message, /dance/);
      return true;
    });
  });

  check('a missing script is named, wherever it is noticed', async ({ agent }) => {
    const answer = await agent.call('interact', { action: 'execute_js' });
    if (answer.isError) return assert.match(JSON.stringify(answer.content), /script/);
    const ended = await agent.collect(answer.structuredContent.correlation_id);
    assert.equal(errorOf(ended).code, 'invalid_params');
    assert.match(errorOf(ended).message, /^script:/);
  });

  check('an unknown correlation id is neither pending nor expired', async ({ agent }) => {
    const id = `corr-1-${'0'.repeat(32)}`;
    const question = { what: 'command_result', correlation_id: id };
    const answer = await agent.call('observe', question);
    const text = JSON.stringify(answer);
    assert.match(text, /unknown|not[ _]found|never existed/i);
    assert.doesNotMatch(text, /"status":"(pending|expired|complete)"/);
  });
}

/** The error of an answer, in the extension's form. */
export function errorOf({ error: code, message, hint, may_have_executed }) {
  return { code, message, hint, may_have_executed };
}
