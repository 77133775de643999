import type {Session} from '../api/types.ts';
import {needsWorker, type Target} from '../commands/targets.ts';
import {sessionPath} from '../router.ts';
import {grouped, nameOf, standing} from '../session_list/groups.ts';
import {sessions} from '../session_list/store.ts';
import {usePolled} from '../ui/poll.ts';

// Something that cannot continue without a person.
export interface Need {
  href: string;
  name: string;
  words: string;
}

// Maximum number of entries shown.
export const maxNeeds = 8;

const counted = (count: number, word: string) => `${count} ${word}${count === 1 ? '' : 's'}`;

export function needsOf(all: Iterable<Session>, targets: readonly Target[]): Need[] {
  const needs = grouped(all, () => 0, '').get('needs')!.map(session =>
    ({href: sessionPath(session.session_id), name: nameOf(session), words: standing(session)}));
  for (const target of targets.filter(needsWorker)) {
    needs.push({href: `/ui/workers?target=${encodeURIComponent(target.target)}`, name: target.target,
      words: `${counted(target.queued, 'command')} queued, no worker connected`});
  }
  return needs;
}

const everyMs = () => 5_000;

export function Needs() {
  const targets = usePolled<{targets: Target[]}>('/targets', everyMs);
  const needs = needsOf(sessions.value.values(), targets.value?.targets ?? []);
  if (needs.length === 0) return null;
  return (
    <section class="needs-you" aria-labelledby="needs-you">
      <h2 id="needs-you">Needs attention</h2>
      <ul>
        {needs.slice(0, maxNeeds).map(({href, name, words}) => <li key={href}><a href={href}>{name}</a>: {words}</li>)}
        {needs.length > maxNeeds && <li class="muted">and {needs.length - maxNeeds} more</li>}
      </ul>
    </section>);
}
