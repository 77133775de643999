import assert from 'node:assert/strict';
import {test} from 'node:test';
import type {Session} from '../src/api/types.ts';
import type {Target} from '../src/commands/targets.ts';
import {needsOf} from '../src/overview/needs.tsx';
import {groupOf} from '../src/session_list/groups.ts';

const session = (id: string, more: Partial<Session>): Session => ({
  session_id: id, name: '', acp_server: '', working_dir: '', status: 'active', archived: false, created_at: '', updated_at: '',
  event_count: 0, max_seq: 0, queue_length: 0, ...more});

test('sessions and targets that need a person are listed with the reason', () => {
  const sessions = [session('a', {open_permissions: 1, name: 'fix login'}), session('b/c', {pause_reason: 'rate_limited'}), session('d', {}),
    session('e', {open_permissions: 2, status: 'completed'}), session('f', {agent: {status: 'failed', reason: 'auth_required'}})];
  const targets: Target[] = [
    {target: 'ci', queued: 31, delivered: 0, running: 0, workers_connected: 0, workers_known: 2},
    {target: 'ok', queued: 5, delivered: 0, running: 0, workers_connected: 1, workers_known: 1}];
  assert.deepEqual(needsOf(sessions, targets), [
    {href: '/ui/sessions/a', name: 'fix login', words: '1 permission request'},
    {href: '/ui/sessions/b%2Fc', name: 'b/c', words: 'paused: rate limited'},
    {href: '/ui/sessions/f', name: 'f', words: 'auth required'},
    {href: '/ui/workers?target=ci', name: 'ci', words: '31 commands queued, no worker connected'}]);
});

test('a queue paused by a person needs no attention, as in the session list', () => {
  for (const reason of ['paused', 'stopped', 'cancelled']) {
    const paused = session('a', {pause_reason: reason});
    assert.notEqual(groupOf(paused, 0), 'needs');
    assert.deepEqual(needsOf([paused], []), [], reason);
  }
});
