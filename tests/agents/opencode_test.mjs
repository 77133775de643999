/** opencode from npm, in sessions with a fake model. */
import { fileURLToPath } from 'node:url';
import { opencode } from './support/agents.js';
import { checkAgent } from './support/agent_checks.js';
import { checkRestarts } from './support/restarts.js';
import { checkStop } from './support/stops.js';

checkAgent(opencode);
checkStop('opencode ends with its runner', opencode);

checkRestarts('opencode is restored by session/resume', opencode);

const WITHOUT_RESUME = fileURLToPath(new URL('./support/without_resume.mjs', import.meta.url));
checkRestarts('opencode is restored by session/load', opencode, {
  change: (entry) =>
    ({ ...entry, command: [process.execPath, WITHOUT_RESUME, ...entry.command] }),
});
