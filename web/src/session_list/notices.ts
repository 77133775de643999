import type {Session} from '../api/types.ts';
import {visible} from '../ui/visible.ts';
import {nameOf} from './groups.ts';

// Something to notify a user about who is not looking at the page: a permission request, or the end of a turn.
export interface Notice {
  // Id of the request or turn: each is notified once.
  tag: string;
  session: string;
  title: string;
  text: string;
}

export function noticeOf(session: Session, type: string, data: Record<string, unknown>): Notice | null {
  const of = {session: session.session_id, title: nameOf(session)};
  switch (type) {
    case 'permission_asked': return {...of, tag: String(data.permission_id), text: `Permission request: ${visible(String(data.title))}`};
    case 'turn_ended': return {...of, tag: String(data.turn_id), text: `Turn ${String(data.outcome)}`};
    default: return null;
  }
}

// Notices for events missed while disconnected, from the lists of sessions before and after.
export function missedNotices(before: ReadonlyMap<string, Session>, after: ReadonlyMap<string, Session>): Notice[] {
  const missed: Notice[] = [];
  for (const session of after.values()) {
    const known = before.get(session.session_id);
    if (!known) continue;
    const of = {session: session.session_id, title: nameOf(session)};
    if ((session.open_permissions ?? 0) > (known.open_permissions ?? 0)) {
      missed.push({...of, tag: `${session.session_id}-asks-${session.max_seq}`, text: 'Permission request'});
    }
    if (known.turn_id && known.turn_id !== session.turn_id) missed.push({...of, tag: known.turn_id, text: 'Turn ended'});
  }
  return missed;
}
