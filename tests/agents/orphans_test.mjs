/** No process of opencode outlives its runner or its agent, however it was started. */
import { opencode } from './support/agents.js';
import { checkOrphans } from './support/orphans.js';

checkOrphans('as it is', opencode);
checkOrphans('behind sh -c', opencode, (command) =>
  ['sh', '-c', '"$@"; exit $?', 'sh', ...command]);
checkOrphans('behind npx', opencode, (command) =>
  ['npx', '--offline', '--call', command.map((word) => `'${word}'`).join(' ')]);
