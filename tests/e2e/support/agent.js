import assert from 'node:assert/strict';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { binary } from './processes.js';

/** The longest wait of one question about a command, in ms; the gateway allows more. */
const WAIT_MS = 8_000;

/** An AI agent as the official MCP client, over stdio or HTTP. */
export class Agent {
  log = '';

  /** Through the bridge over stdio. The client starts and ends the bridge. */
  static async overBridge(gatewayUrl, tokenFile) {
    const args = ['--gateway', gatewayUrl];
    if (tokenFile) args.push('--token-file', tokenFile);
    const transport = new StdioClientTransport({
      command: binary('callslip-bridge'),
      args,
      stderr: 'pipe',
    });
    const agent = await Agent.over(transport);
    agent.bridgePid = transport.pid;
    return agent;
  }

  /** Directly to the gateway. */
  static async overHttp(gatewayUrl, token) {
    const headers = token ? { Authorization: `Bearer ${token}` } : {};
    const url = new URL('/mcp', gatewayUrl);
    return Agent.over(new StreamableHTTPClientTransport(url, { requestInit: { headers } }));
  }

  /** Any official client over any of its transports; by default that of SDK 1.x. */
  static async over(transport, client = new Client({ name: 'callslip-e2e', version: '1.0.0' })) {
    const agent = new Agent();
    agent.client = client;
    transport.stderr?.on('data', (chunk) => { agent.log += chunk; });
    await client.connect(transport);
    // With the output schemas the client checks every structured answer.
    const { tools } = await client.listTools();
    agent.toolNames = tools.map(({ name }) => name);
    return agent;
  }

  call(name, args) {
    return this.client.callTool({ name, arguments: args });
  }

  /** Submits a command and returns its correlation id. */
  async submit(params) {
    const answer = await this.call('interact', params);
    assert.ok(!answer.isError, JSON.stringify(answer));
    const { status, final, correlation_id } = answer.structuredContent;
    assert.equal(status, 'queued');
    assert.equal(final, false);
    assert.match(correlation_id, /^corr-\d+-[0-9a-f]{32}$/);
    return correlation_id;
  }

  /** Asks once for the result of a command. */
  async ask(correlationId, waitMs = WAIT_MS) {
    const answer = await this.call('observe', {
      what: 'command_result',
      correlation_id: correlationId,
      wait_ms: waitMs,
    });
    assert.ok(answer.structuredContent, JSON.stringify(answer));
    return answer.structuredContent;
  }

  /** Asks until the command has ended, and returns its answer. */
  async collect(correlationId) {
    for (;;) {
      const answer = await this.ask(correlationId);
      if (answer.final) return answer;
      assert.equal(answer.status, 'pending');
    }
  }

  /** Submits a command and returns its result, which must be a success. */
  async run(params) {
    const answer = await this.collect(await this.submit(params));
    assert.equal(answer.status, 'complete', JSON.stringify(answer));
    return answer;
  }

  async close() {
    await this.client.close();
  }

  describeLog() {
    return `--- bridge\n${this.log}`;
  }
}
