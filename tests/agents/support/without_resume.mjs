/**
 * An agent, as a command, with `session/load` but without `session/resume`: runs the given agent
 * and removes that capability from its answer to `initialize`. Everything else passes unchanged.
 */
import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';

const [program, ...args] = process.argv.slice(2);
const agent = spawn(program, args, { stdio: ['pipe', 'pipe', 'inherit'] });
process.stdin.pipe(agent.stdin);
for await (const line of createInterface({ input: agent.stdout })) {
  const abilities = line.includes('"agentCapabilities"') && JSON.parse(line);
  if (abilities) delete abilities.result.agentCapabilities.sessionCapabilities?.resume;
  process.stdout.write(`${abilities ? JSON.stringify(abilities) : line}\n`);
}
