/** opencode from npm, in sessions with a fake model. */
import { fileURLToPath } from 'node:url';
import { opencode } from './support/agents.js';
import { checkAgent } from './support/agent_checks.js';
import { checkRestarts } from './support/restarts.js';
import { checkStop } from './support/stops.js';

checkAgent(opencode);
checkStop('ends with its runner', opencode);

checkRestarts('is restored by session/resume', opencode);

const WITHOUT_RESUME = fileURLToPath(new URL('./support/without_resume.mjs', import.meta.url));
checkRestarts('is restored by session/load', opencode, {
  change: (entry) =>
    ({ ...entry, command: [process.execPath, WITHOUT_RESUME, ...entry.command] }),
});
