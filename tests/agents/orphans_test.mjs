/** No process of opencode outlives its runner or its agent, however it was started. */
import { opencode } from './support/agents.js';
import { checkOrphans } from './support/orphans.js';

checkOrphans('opencode leaves no process behind', opencode);
checkOrphans('opencode started by sh -c leaves no process behind', opencode, (command) =>
  ['sh', '-c', '"$@"; exit $?', 'sh', ...command]);
checkOrphans('opencode started by npx leaves no process behind', opencode, (command) =>
  ['npx', '--offline', '--call', command.map((word) => `'${word}'`).join(' ')]);
