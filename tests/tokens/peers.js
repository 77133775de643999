import { join } from 'node:path';
import { Client } from '../e2e/node_modules/@modelcontextprotocol/sdk/dist/esm/client/index.js';
import { StdioClientTransport }
  from '../e2e/node_modules/@modelcontextprotocol/sdk/dist/esm/client/stdio.js';

const CHROMIUM = process.env.CALLSLIP_CHROMIUM ?? '/usr/bin/chromium';

/** How each peer is started, opens a page, and reads it. */
const PEERS = {
  '@playwright/mcp': {
    program: '@playwright/mcp/cli.js',
    args: ['--headless', '--isolated', '--no-sandbox', '--executable-path', CHROMIUM],
    go: (url) => ['browser_navigate', { url }],
    look: ['browser_snapshot', {}],
  },
  'chrome-devtools-mcp': {
    program: 'chrome-devtools-mcp/build/src/bin/chrome-devtools-mcp.js',
    args: ['--headless', '--isolated', '--chromeArg=--no-sandbox', '--executablePath', CHROMIUM],
    go: (url) => ['navigate_page', { pageId: 1, type: 'url', url }],
    look: ['take_snapshot', { pageId: 1 }],
  },
};

/** Starts all peers from the packages of a folder: by name, `{client, look(url)}`. */
export async function peers(folder) {
  const started = {};
  for (const [name, { program, args, go, look }] of Object.entries(PEERS)) {
    const client = new Client({ name: 'callslip-tokens', version: '1.0.0' });
    await client.connect(new StdioClientTransport({
      command: process.execPath,
      args: [join(folder, 'node_modules', program), ...args],
      cwd: folder,
      stderr: 'ignore',
    }));
    const call = async ([tool, params]) => {
      const answer = await client.callTool({ name: tool, arguments: params });
      if (answer.isError) throw new Error(`${name}: ${JSON.stringify(answer.content)}`);
      return answer;
    };
    started[name] = {
      client,
      async look(url) {
        await call(go(url));
        return call(look);
      },
    };
  }
  return started;
}
