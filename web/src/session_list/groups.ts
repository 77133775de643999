import type {Session} from '../api/types.ts';
import {visible} from '../ui/visible.ts';

// The groups of the session list, in their order: sessions that need a person come first.
export type Group = 'needs' | 'running' | 'unread' | 'idle' | 'ended';
export const groups: {id: Group; title: string}[] = [
  {id: 'needs', title: 'Needs attention'}, {id: 'running', title: 'Running'}, {id: 'unread', title: 'Unread'},
  {id: 'idle', title: 'Idle'}, {id: 'ended', title: 'Ended'},
];

// Pause reasons caused by a person: they need no attention.
const byPerson = new Set(['', 'paused', 'stopped', 'cancelled']);
const busy = new Set(['waiting', 'starting', 'prompting', 'stopping']);

export function groupOf(session: Session, seen: number): Group {
  if (session.status !== 'active') return session.max_seq > seen ? 'unread' : 'ended';
  if (session.open_permissions || session.agent?.status === 'failed') return 'needs';
  if (session.pause_reason && !byPerson.has(session.pause_reason)) return 'needs';
  if (session.turn_id || busy.has(session.agent?.status ?? '')) return 'running';
  return session.max_seq > seen ? 'unread' : 'idle';
}

// The status of the session's agent; empty if it has none.
export const agentStatus = ({agent}: Session): string => (!agent || agent.status === 'none' ? '' : words(agent.status));

export function standing(session: Session): string {
  if (session.open_permissions) {
    return session.open_permissions === 1 ? '1 permission request' : `${session.open_permissions} permission requests`;
  }
  if (session.agent?.status === 'failed') return words(session.agent.reason || 'agent failed');
  if (session.pause_reason) return `paused: ${words(session.pause_reason)}`;
  if (session.turn_id) return 'working';
  if (session.status !== 'active') return 'ended';
  if (session.agent && busy.has(session.agent.status)) return session.agent.status;
  if (session.queue_length) return `${session.queue_length} queued`;
  return '';
}

// A code in words: agent_crashed → agent crashed.
export const words = (code: string): string => code.replaceAll('_', ' ');

export const nameOf = (session: {name: string; session_id: string}): string => visible(session.name || session.session_id);

// The sessions by group, each newest first; `text` filters them.
export function grouped(sessions: Iterable<Session>, seen: (id: string) => number, text: string): Map<Group, Session[]> {
  const wanted = text.trim().toLowerCase();
  const found = new Map<Group, Session[]>(groups.map(({id}) => [id, []]));
  for (const session of sessions) {
    const where = `${session.name} ${session.session_id} ${session.acp_server} ${session.working_dir} ${session.client_id ?? ''}`;
    if (wanted && !where.toLowerCase().includes(wanted)) continue;
    found.get(groupOf(session, seen(session.session_id)))!.push(session);
  }
  for (const list of found.values()) list.sort((a, b) => b.updated_at.localeCompare(a.updated_at));
  return found;
}

// The session after a message about all sessions; undefined if nothing changes, null if the session was deleted.
export function changed(session: Session | undefined, type: string, data: Record<string, unknown>): Session | null | undefined {
  if (type.startsWith('session_') && type !== 'session_activity' && type !== 'session_deleted') {
    return data as unknown as Session;
  }
  if (type === 'session_deleted') return null;
  if (!session) return undefined;
  switch (type) {
    case 'session_activity':
      return {...session, max_seq: Number(data.max_seq), updated_at: String(data.updated_at)};
    case 'turn_started': return {...session, turn_id: String(data.turn_id)};
    case 'turn_ended': {
      const {turn_id: _, ...rest} = session;
      return rest;
    }
    case 'permission_asked': case 'permission_answered': case 'permission_cancelled':
      return {...session, open_permissions: Number(data.open_permissions)};
    case 'queue_updated': case 'queue_message_sending': case 'queue_message_sent': {
      const {pause_reason: before, ...rest} = session;
      const reason = data.action === 'resumed' ? '' : data.pause_reason ?? (data.action === 'paused' ? '' : before);
      return {...rest, queue_length: Number(data.queue_length), ...(reason ? {pause_reason: String(reason)} : {})};
    }
    default: return undefined;
  }
}
