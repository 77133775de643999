import assert from 'node:assert/strict';
import {test} from 'node:test';
import type {Session} from '../src/api/types.ts';
import {missedNotices, noticeOf} from '../src/session_list/notices.ts';

const session = (more: Partial<Session> = {}): Session => ({session_id: 's', name: 'Mend', acp_server: '', working_dir: '', status: 'active',
  archived: false, created_at: '', updated_at: '', event_count: 1, max_seq: 7, queue_length: 0, ...more});
const list = (...all: Session[]) => new Map(all.map(each => [each.session_id, each]));

test('only a permission request and an ended turn give a notice', () => {
  assert.deepEqual(noticeOf(session(), 'permission_asked', {permission_id: 'p', title: 'make'}),
    {session: 's', title: 'Mend', tag: 'p', text: 'Permission request: make'});
  assert.deepEqual(noticeOf(session({name: ''}), 'turn_ended', {turn_id: 't', outcome: 'failed'}),
    {session: 's', title: 's', tag: 't', text: 'Turn failed'});
  for (const type of ['turn_started', 'session_activity', 'permission_answered', 'queue_updated']) {
    assert.equal(noticeOf(session(), type, {}), null);
  }
});

test('missed changes give notices, except for sessions not seen before', () => {
  const tags = (before: Session, after: Session) => missedNotices(list(before), list(after)).map(({tag}) => tag);
  assert.deepEqual(tags(session(), session()), []);
  assert.deepEqual(tags(session({open_permissions: 1}), session({open_permissions: 1})), []);
  assert.deepEqual(tags(session(), session({open_permissions: 1})), ['s-asks-7']);
  assert.deepEqual(tags(session({turn_id: 't'}), session()), ['t']);
  assert.deepEqual(tags(session({turn_id: 't'}), session({turn_id: 'u'})), ['t']);
  assert.deepEqual(tags(session({turn_id: 't'}), session({turn_id: 't'})), []);
  assert.deepEqual(missedNotices(new Map(), list(session({open_permissions: 1}))), []);
});
