/** gemini-cli from npm, in sessions with a fake model. */
import { gemini } from './support/agents.js';
import { checkAgent } from './support/agent_checks.js';
import { checkOrphans } from './support/orphans.js';
import { checkRestarts } from './support/restarts.js';
import { checkStop } from './support/stops.js';

checkAgent(gemini);
checkStop('gemini ends with its runner', gemini);
// It stores nothing when it is killed, and does not find a session that it restored before.
checkRestarts('gemini is restored by session/load', gemini, { kills: false, rounds: 1 });
checkOrphans('gemini leaves no process behind', gemini);
