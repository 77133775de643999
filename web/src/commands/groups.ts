import {endedAt, type Command} from './model.ts';

export type GroupBy = 'error' | 'command' | 'target';
export const groupings: GroupBy[] = ['error', 'command', 'target'];

// Failed commands with a common property.
export interface Group {
  name: string;
  commands: Command[];
  first: string;
  last: string;
  // Distinct values, the most frequent first.
  kinds: string[];
  targets: string[];
  // How many of them may have taken effect.
  mayHaveRun: number;
  // The most frequent hint; empty if there is none.
  hint: string;
}

export const mayHaveRun = (command: Command): boolean => command.may_have_executed !== false;

function frequent(names: readonly string[]): string[] {
  const counts = new Map<string, number>();
  for (const name of names) counts.set(name, (counts.get(name) ?? 0) + 1);
  return [...counts].sort((a, b) => b[1] - a[1] || (a[0] < b[0] ? -1 : 1)).map(([name]) => name);
}

// Groups failed commands, the largest group first.
export function groupsOf(commands: readonly Command[], by: GroupBy): Group[] {
  const found = new Map<string, Command[]>();
  for (const each of commands) {
    const name = (by === 'error' ? each.error : each[by]) || 'unknown';
    const group = found.get(name);
    if (group) group.push(each);
    else found.set(name, [each]);
  }
  return [...found].map(([name, all]) => {
    const ends = all.map(each => endedAt(each) ?? each.created_at).sort();
    return {
      name, commands: all, first: ends[0]!, last: ends.at(-1)!,
      kinds: frequent(all.map(({command}) => command)), targets: frequent(all.map(({target}) => target)),
      mayHaveRun: all.filter(mayHaveRun).length,
      hint: frequent(all.map(({hint}) => hint ?? '').filter(Boolean))[0] ?? '',
    };
  }).sort((a, b) => b.commands.length - a.commands.length || (a.name < b.name ? -1 : 1));
}
