import assert from 'node:assert/strict';
import {test} from 'node:test';
import type {Session} from '../src/api/types.ts';
import {changed, grouped, groupOf, standing} from '../src/session_list/groups.ts';

const session = (more: Partial<Session> = {}): Session => ({
  session_id: 's', name: '', acp_server: 'a', working_dir: '/', status: 'active', archived: false,
  created_at: '2026-01-01T00:00:00Z', updated_at: '2026-01-01T00:00:00Z', event_count: 1, max_seq: 1,
  queue_length: 0, ...more});
const agent = (status: NonNullable<Session['agent']>['status'], reason = '') => ({agent: {status, reason}});

test('needing a person takes precedence over running, and running over unread', () => {
  assert.equal(groupOf(session({open_permissions: 1, turn_id: 't'}), 1), 'needs');
  assert.equal(groupOf(session({pause_reason: 'rate_limited', turn_id: 't'}), 1), 'needs');
  assert.equal(groupOf(session(agent('failed', 'auth_required')), 1), 'needs');
  assert.equal(groupOf(session({turn_id: 't'}), 0), 'running');
  for (const status of ['waiting', 'starting', 'prompting', 'stopping'] as const) {
    assert.equal(groupOf(session(agent(status)), 0), 'running', status);
  }
  assert.equal(groupOf(session(), 0), 'unread');
  assert.equal(groupOf(session(), 1), 'idle');
  assert.equal(groupOf(session({status: 'completed'}), 1), 'ended');
  assert.equal(groupOf(session({status: 'completed', open_permissions: 1}), 0), 'unread');
});

test('a session whose queue was paused by a person needs no attention', () => {
  for (const reason of ['paused', 'stopped', 'cancelled']) {
    assert.equal(groupOf(session({pause_reason: reason}), 1), 'idle', reason);
  }
});

test('the state of a session is described in words', () => {
  assert.equal(standing(session({open_permissions: 2})), '2 permission requests');
  assert.equal(standing(session({pause_reason: 'agent_crashed'})), 'paused: agent crashed');
  assert.equal(standing(session({queue_length: 3})), '3 queued');
});

test('a filter matches names, folders and clients, with the newest session first', () => {
  const all = [session({session_id: 'a', working_dir: '/src/web'}), session({session_id: 'b', client_id: 'Ann'}),
    session({session_id: 'c', name: 'Mend', updated_at: '2026-01-02T00:00:00Z'})];
  const ids = (text: string) => [...grouped(all, () => 1, text).values()].flat().map(each => each.session_id);
  assert.deepEqual(ids(''), ['c', 'a', 'b']);
  assert.deepEqual(ids('WEB'), ['a']);
  assert.deepEqual(ids('ann'), ['b']);
  assert.deepEqual(ids('mend'), ['c']);
  assert.deepEqual(ids('nothing'), []);
});

test('a notice changes its session, and an unknown notice changes nothing', () => {
  const before = session({turn_id: 't', pause_reason: 'rate_limited'});
  assert.equal(changed(before, 'session_deleted', {}), null);
  assert.equal(changed(before, 'session_activity', {max_seq: 7, updated_at: 'x'})!.max_seq, 7);
  assert.equal(changed(before, 'turn_ended', {})!.turn_id, undefined);
  assert.equal(changed(before, 'turn_started', {turn_id: 'u'})!.turn_id, 'u');
  assert.equal(changed(before, 'permission_asked', {open_permissions: 2})!.open_permissions, 2);
  assert.equal(changed(before, 'queue_updated', {queue_length: 1, action: 'added'})!.pause_reason, 'rate_limited');
  assert.equal(changed(before, 'queue_updated', {queue_length: 1, action: 'resumed'})!.pause_reason, undefined);
  assert.equal(changed(undefined, 'session_activity', {max_seq: 1}), undefined);
  assert.equal(changed(before, 'unheard_of', {}), undefined);
  assert.equal(changed(undefined, 'session_created', {...session()} as Record<string, unknown>)!.session_id, 's');
});
