/**
 * An agent behind a runner (Agent Client Protocol 1, over stdio) that passes on the trace of its
 * prompt, as agents with telemetry do. A prompt is a JSON list of calls, each `{tool, args,
 * bridge?}`: made over HTTP, or through a bridge that it starts. It says the answers.
 */
import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';

/**
 * The bridge's program, and a token file with an agent's token: the session's token is for HTTP
 * only.
 */
const [bridgeProgram, tokenFile] = process.argv.slice(2);
const INITIALIZE = { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'calling', version: '1' } };

let server;

const write = (stream, message) => stream.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);
const say = (sessionId, text) => write(process.stdout, {
  method: 'session/update',
  params: { sessionId, update: { sessionUpdate: 'agent_message_chunk', content: { type: 'text', text } } },
});

async function overHttp(params) {
  const given = Object.fromEntries(server.headers.map(({ name, value }) => [name, value]));
  const post = (body, more) => fetch(server.url, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json', ...given, ...more },
    body: JSON.stringify({ jsonrpc: '2.0', ...body }),
  });
  const initialized = await post({ id: 1, method: 'initialize', params: INITIALIZE });
  const called = await post({ id: 2, method: 'tools/call', params },
    { 'Mcp-Session-Id': initialized.headers.get('mcp-session-id') });
  return (await called.json()).result;
}

async function overBridge(params) {
  const bridge = spawn(bridgeProgram, ['--gateway', new URL(server.url).origin, '--token-file', tokenFile],
    { stdio: ['pipe', 'pipe', 'inherit'] });
  write(bridge.stdin, { id: 1, method: 'initialize', params: INITIALIZE });
  write(bridge.stdin, { method: 'notifications/initialized' });
  write(bridge.stdin, { id: 2, method: 'tools/call', params });
  for await (const line of createInterface({ input: bridge.stdout })) {
    const { id, result } = JSON.parse(line);
    if (id !== 2) continue;
    bridge.stdin.end();
    return result;
  }
  return undefined;
}

const METHODS = {
  initialize: () => ({
    protocolVersion: 1, authMethods: [], agentCapabilities: { mcpCapabilities: { http: true } },
  }),
  'session/new'({ mcpServers }) {
    server = mcpServers.find(({ type }) => type === 'http');
    return { sessionId: 'one' };
  },
  async 'session/prompt'({ sessionId, prompt, _meta: { traceparent } = {} }) {
    for (const { tool, args, bridge } of JSON.parse(prompt[0].text)) {
      const params = { name: tool, arguments: args, ...(traceparent && { _meta: { traceparent } }) };
      const result = await (bridge ? overBridge(params) : overHttp(params));
      say(sessionId, `${JSON.stringify(result?.structuredContent)}\n`);
    }
    return { stopReason: 'end_turn' };
  },
};

for await (const line of createInterface({ input: process.stdin })) {
  const { id, method, params } = JSON.parse(line);
  if (id === undefined || method === undefined) continue;
  const answer = async () => METHODS[method]?.(params);
  answer().then((result) => write(process.stdout, { id, result: result ?? null }),
    (error) => write(process.stdout, { id, error: { code: -32603, message: error.message } }));
}
