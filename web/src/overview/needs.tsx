import {whose} from '../api/http.ts';
import type {Session} from '../api/types.ts';
import {needsWorker, type Target} from '../commands/targets.ts';
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

export function needsOf(sessions: readonly Session[], targets: readonly Target[]): Need[] {
  const needs: Need[] = [];
  for (const {session_id: id, name, open_permissions: open, pause_reason: pause, status} of sessions) {
    if (status !== 'active') continue;
    const words = open ? counted(open, 'permission request') : pause ? `queue paused (${pause.replaceAll('_', ' ')})` : '';
    if (words) needs.push({href: `/ui/sessions/${encodeURIComponent(id)}`, name: name || id, words});
  }
  for (const target of targets.filter(needsWorker)) {
    needs.push({href: `/ui/workers?target=${encodeURIComponent(target.target)}`, name: target.target,
      words: `${counted(target.queued, 'command')} queued, no worker connected`});
  }
  return needs;
}

const everyMs = () => 5_000;

export function Needs() {
  const query = whose() ? `client=${encodeURIComponent(whose())}` : '';
  const sessions = usePolled<{sessions: Session[]}>(`/sessions?limit=100&${query}`, everyMs);
  const targets = usePolled<{targets: Target[]}>('/targets', everyMs);
  const needs = needsOf(sessions.value?.sessions ?? [], targets.value?.targets ?? []);
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
