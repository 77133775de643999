// How to register this gateway in each agent, according to the agent's own documentation.

export interface Place {
  // Of the gateway, such as `http://127.0.0.1:7890`.
  origin: string;
  // Whether callers need a token.
  tokens: boolean;
}

export interface AgentGuide {
  id: string;
  name: string;
  // Where to put `text`.
  where: string;
  text: (place: Place) => string;
}

const header = 'Authorization: Bearer TOKEN';
const headers = {Authorization: 'Bearer TOKEN'};
const url = ({origin}: Place) => `${origin}/mcp`;
const json = (value: unknown) => JSON.stringify(value, null, 2);
const inTerminal = 'In a terminal:';
// The member `headers` of a configuration, which is omitted if no token is required.
const proof = ({tokens}: Place) => (tokens ? {headers} : {});

export const agentGuides: readonly AgentGuide[] = [
  {id: 'claude-code', name: 'Claude Code', where: inTerminal,
    text: place => `claude mcp add --transport http callslip ${url(place)}${place.tokens ? ` --header "${header}"` : ''}`},
  {id: 'codex', name: 'Codex', where: inTerminal,
    text: place => (place.tokens
      ? `export CALLSLIP_TOKEN=TOKEN\ncodex mcp add callslip --url ${url(place)} --bearer-token-env-var CALLSLIP_TOKEN`
      : `codex mcp add callslip --url ${url(place)}`)},
  {id: 'gemini', name: 'Gemini CLI', where: inTerminal,
    text: place => `gemini mcp add --scope user --transport http ${place.tokens ? `--header "${header}" ` : ''}callslip ${url(place)}`},
  {id: 'opencode', name: 'opencode', where: 'In opencode.json:',
    text: place => json({mcp: {callslip: {type: 'remote', url: url(place), ...proof(place)}}})},
  {id: 'vscode', name: 'VS Code', where: 'In .vscode/mcp.json:',
    text: place => json({servers: {callslip: {type: 'http', url: url(place), ...proof(place)}}})},
  {id: 'cursor', name: 'Cursor', where: 'In ~/.cursor/mcp.json:',
    text: place => json({mcpServers: {callslip: {url: url(place), ...proof(place)}}})},
  {id: 'claude-desktop', name: 'Claude Desktop', where: 'In claude_desktop_config.json, with the full path of callslip-bridge:',
    text: place => json({mcpServers: {callslip: {command: '/path/to/callslip-bridge',
      args: ['--gateway', place.origin, ...(place.tokens ? ['--token-file', '/path/to/token'] : [])]}}})},
  {id: 'other', name: 'Other', where: 'MCP over Streamable HTTP at this address; for MCP over stdio, use callslip-bridge as shown for Claude Desktop:',
    text: place => `${url(place)}${place.tokens ? `\n${header}` : ''}`},
];
