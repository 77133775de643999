import { existsSync } from 'node:fs';
import { mkdir, readdir, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const HERE = fileURLToPath(new URL('..', import.meta.url));

/** A program of the packages. Throws an Error with the command that installs it. */
function installed(path) {
  const program = join(HERE, path);
  if (!existsSync(program)) {
    throw new Error(`${program} is missing: ./dev test-agents installs it.`);
  }
  return program;
}

/**
 * The agents, each with the way to configure its model and the folder of its state:
 * `configure({home, model, proxy})` gives its entry for runner.yaml. `write` and `shell` are the
 * model's calls that have the agent write a file and run a command, `program` is the name of its
 * processes, `tool` is the model's name of a tool of the gateway.
 */
export const opencode = {
  name: 'opencode',
  async configure({ home, model, proxy }) {
    const config = {
      provider: {
        fake: {
          npm: '@ai-sdk/openai-compatible',
          name: 'Fake',
          options: { baseURL: `${model}/v1`, apiKey: 'none' },
          models: { script: { name: 'Script', tool_call: true } },
        },
      },
      model: 'fake/script',
      small_model: 'fake/script',
      permission: { edit: 'ask', bash: 'ask' },
      share: 'disabled',
      autoupdate: false,
    };
    await mkdir(home, { recursive: true });
    const file = join(home, 'opencode.json');
    await writeFile(file, JSON.stringify(config));
    return {
      command: [installed(`node_modules/opencode-linux-${process.arch}/bin/opencode`), 'acp'],
      env: {
        HOME: home,
        OPENCODE_CONFIG: file,
        OPENCODE_DISABLE_AUTOUPDATE: '1',
        OPENCODE_DISABLE_LSP_DOWNLOAD: '1',
        OPENCODE_DISABLE_MODELS_FETCH: '1',
        ...proxied(proxy),
      },
    };
  },
  write: (path, content) => ({ call: 'write', args: { filePath: path, content } }),
  shell: (command) => ({ call: 'bash', args: { command, description: 'A command of the script' } }),
  program: /\/opencode$/,
  tool: (name) => `callslip_${name}`,
  /** It tries to install the types of its plugins in the background, and works without them. */
  alsoAsksFor: /^GET \/@opencode-ai%2fplugin$/i,
};

export const codex = {
  name: 'codex',
  async configure({ home, model, proxy }) {
    await mkdir(home, { recursive: true });
    await writeFile(join(home, 'config.toml'), `
model = "gpt-5.5"
model_provider = "fake"
check_for_update_on_startup = false

[features]
apps = false
plugins = false
remote_plugin = false

[model_providers.fake]
name = "Fake"
base_url = "${model}/v1"
wire_api = "responses"
env_key = "FAKE_KEY"
requires_openai_auth = false
supports_websockets = false
`);
    return {
      command: [installed('more/node_modules/.bin/codex-acp')],
      env: {
        HOME: home,
        CODEX_HOME: home,
        FAKE_KEY: 'none',
        NO_BROWSER: '1',
        INITIAL_AGENT_MODE: 'read-only',
        ...proxied(proxy),
      },
    };
  },
  write: (path, content) => ({
    call: 'exec_command',
    args: {
      cmd: `printf %s '${content}' > '${path}'`,
      sandbox_permissions: 'require_escalated',
      justification: 'May the file be written?',
    },
  }),
  shell: (cmd) => ({
    call: 'exec_command',
    args: { cmd, sandbox_permissions: 'require_escalated', justification: 'May it run?' },
  }),
  program: /\/codex-acp$/,
  tool: (name) => `mcp__callslip/${name}`,
  /** It ends its turn after a command was rejected. */
  afterRejection: 'cancelled',
};

export const gemini = {
  name: 'gemini',
  async configure({ home, model, proxy }) {
    await mkdir(join(home, '.gemini'), { recursive: true });
    await writeFile(join(home, '.gemini/settings.json'), JSON.stringify({
      security: { auth: { selectedType: 'gemini-api-key' } },
      general: { enableAutoUpdate: false, disableAutoUpdate: true },
      privacy: { usageStatisticsEnabled: false },
      telemetry: { enabled: false },
    }));
    return {
      command: [installed('more/node_modules/.bin/gemini'), '--acp', '--model', 'gemini-2.5-pro'],
      // It treats the absence of a file that it is about to create as an error.
      fs: false,
      env: {
        HOME: home,
        GEMINI_API_KEY: 'none',
        GOOGLE_GEMINI_BASE_URL: model,
        GEMINI_CLI_TRUST_WORKSPACE: 'true',
        ...proxied(proxy),
      },
    };
  },
  write: (path, content) => ({ call: 'write_file', args: { file_path: path, content } }),
  shell: (command) => ({ call: 'run_shell_command', args: { command } }),
  program: /\/gemini$/,
  tool: (name) => `mcp_callslip_${name}`,
  /**
   * Makes the session's files a minute older: a file's name contains the minute, and a session that
   * is restored within that minute is overwritten before it is read.
   */
  async passes(home) {
    const names = await readdir(home, { recursive: true });
    const files = names.filter((name) => /\/session-.*\.jsonl$/.test(name)).sort();
    for (const [i, name] of files.entries()) {
      const earlier = `session-2026-01-01T00-${String(i).padStart(2, '0')}-`;
      await rename(join(home, name), join(home, name.replace(/session-[\dT-]{16}-/, earlier)));
    }
  },
};

/** Requests to other machines and for npm's packages go to the proxy. */
function proxied(proxy) {
  const others = 'localhost,127.0.0.1,::1';
  return {
    npm_config_registry: proxy, HTTP_PROXY: proxy, http_proxy: proxy, HTTPS_PROXY: proxy, https_proxy: proxy, ALL_PROXY: proxy,
    NO_PROXY: others, no_proxy: others,
  };
}
