/** codex-acp from npm, in sessions with a fake model. */
import { codex } from './support/agents.js';
import { checkAgent } from './support/agent_checks.js';
import { checkOrphans } from './support/orphans.js';
import { checkRestarts } from './support/restarts.js';
import { checkStop } from './support/stops.js';

checkAgent(codex);
checkStop('codex ends with its runner', codex);
checkRestarts('codex is restored by session/resume', codex);
checkOrphans('codex leaves no process behind', codex);
