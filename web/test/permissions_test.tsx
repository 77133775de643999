import assert from 'node:assert/strict';
import {test} from 'node:test';
import {render} from 'preact';
import {me} from '../src/api/http.ts';
import type {Json, JsonObject, Permission, PermissionOption} from '../src/api/types.ts';
import {Permissions} from '../src/session_page/permissions.tsx';
import type {SessionStore} from '../src/session_page/store.ts';
import {visible} from '../src/ui/visible.ts';
import {openDocument} from './support/dom.ts';

const root = openDocument();
me.value = {name: 'somebody', role: 'local', may_act: true, sees_all_clients: false, tokens: false, version: ''};

// The texts of the question, piece by piece.
function asked(details: JsonObject, more: Partial<Permission> = {}): string[] {
  const permission = {permission_id: 'p', title: 'Edit', options: [], asked_at: '', status: 'open', details, ...more};
  render(<Permissions store={{permissions: {value: [permission]}} as unknown as SessionStore} />, root);
  const texts: string[] = [];
  const isText = ({nodeType, localName}: Element) => nodeType === 3 || ['b', 'bdi', 'kbd'].includes(localName);
  const read = (node: Element): void => {
    const children = [...node.childNodes] as Element[];
    if (children.every(isText)) texts.push(node.textContent ?? '');
    else children.forEach(read);
  };
  read(root);
  render(null, root);
  return texts;
}

// The lines of all texts in a value that end with `;`: names of types do not.
function leaves(value: Json): string[] {
  if (typeof value === 'string') return value.split('\n').filter(line => line.endsWith(';'));
  if (Array.isArray(value)) return value.flatMap(leaves);
  return typeof value === 'object' && value !== null ? Object.values(value).flatMap(leaves) : [];
}

test('all texts of a permission request are shown, whatever its content', () => {
  for (let seed = 0; seed < 500; seed++) {
    let state = seed + 1;
    const next = (below: number) => (state = (state * 48271) % 2147483647) % below;
    const one = <T,>(...all: (() => T)[]): T => all[next(all.length)]!();
    let count = 0;
    const text = (): string => `${one(() => '', () => 'a "b" \\', () => 'א \u202e', () => `first${count++};\n`)}text${count++};`;
    const object = (...made: [string, () => Json][]): JsonObject =>
      Object.fromEntries(made.filter(() => next(4) > 0).map(([name, make]) => [name, make()]));
    const value = (depth = 3): Json => one<Json>(text, text, () => null, () => next(9), () => next(2) === 0,
      () => (depth ? [value(depth - 1), value(depth - 1)] : text()),
      () => (depth ? object([text(), () => value(depth - 1)], ['command', text], ['text', () => value(depth - 1)]) : text()));
    const odd = (): Json => one<Json>(text, () => value());
    const same = text();
    const diff = () => object(['type', () => 'diff'], ['type', () => 'diff'], ['path', odd], ['oldText', () => one<Json>(odd, () => same)],
      ['newText', () => one<Json>(odd, () => same, () => null, () => `${same}\n`)], ['new_text', text], ['_meta', odd]);
    const said = () => object(['type', () => 'content'], ['content', () => object(['type', () => 'text'], ['text', odd], ['uri', text])], ['text', odd], ['note', odd]);
    const some = (make: () => Json) => () => one<Json>(odd, () => Array.from({length: next(3) + 1}, () => one<Json>(make, make, odd)));
    const details = object(['rawInput', () => one<Json>(odd, () => object(['command', text], ['file_path', text], ['old_string', text], ['new_string', text]))],
      ['content', some(() => one<Json>(diff, said))], ['locations', some(() => object(['path', odd], ['line', () => one<Json>(odd, () => next(9))], ['name', text]))],
      ['title', odd], ['kind', odd], ['status', odd], ['toolCallId', odd], ['left_out', odd], ['rawOutput', odd], [text(), odd]);
    const kind = text();
    const shown = asked(details, {kind}).join('\n');
    for (const each of [...leaves(details), ...leaves(kind)]) {
      const ways = [visible(each), visible(JSON.stringify(each).slice(1, -1))];
      assert.ok(ways.some(way => shown.includes(way)), `seed ${seed}: ${each} of ${JSON.stringify(details)} in ${shown}`);
    }
  }
});

test('a requested change is shown in full, however long it is', () => {
  for (const count of [401, 20_001]) {
    const lines = Array.from({length: count}, (_, at) => `line ${at};`);
    const shown = asked({content: [{type: 'diff', path: '/a', oldText: null, newText: lines.join('\n')}]});
    assert.deepEqual(shown.filter(text => text.startsWith('line ')), lines);
    assert.ok(!shown.some(text => /more lines|Show diff|Comparing/.test(text)));
  }
});

test('each detail of a permission request is shown once', () => {
  const [, ...shown] = asked({title: 'Edit', kind: 'edit', toolCallId: 't', status: 'pending', rawInput: null,
    content: [{type: 'diff', path: '/a', oldText: null, newText: 'new'}, {type: 'content', content: {type: 'text', text: 'said'}}],
    locations: [{path: '/b', line: 7}]}, {kind: 'edit', tool_call_id: 't'});
  for (const each of ['Kind: edit', '/b:7', '/a', 'said']) assert.equal(shown.filter(text => text === each).length, 1, each);
  assert.ok(!shown.some(text => text.includes('{')), shown.join('\n'));
});

test('a button shows the kind of its option unless the name implies it', () => {
  const said = (name: string, kind: string) => {
    const options: PermissionOption[] = [{option_id: 'o', name, kind}];
    return asked({}, {options}).findLast(text => text.startsWith(name));
  };
  for (const [name, kind] of [['Yes', 'allow_once'], ['Allow once', 'allow_once'], ['Always allow', 'allow_always'], ['No', 'reject_once'], ['Reject', 'reject_once']] as const) {
    assert.match(said(name, kind)!, new RegExp(`^${name}[yn]?$`));
  }
  assert.equal(said('Reject', 'allow_always'), 'Reject (allow always)');
  assert.equal(said('Always', 'allow_always'), 'Always (allow always)');
  assert.equal(said('Yes', 'allow_always'), 'Yes (allow always)');
  assert.equal(said('Allow, but not now', 'reject_always'), 'Allow, but not now (reject always)');
  assert.equal(said('Nein', 'reject_once'), 'Nein (reject once)n');
  assert.equal(said('Later', 'of_next\u202eyear'), 'Later (of next\\u{202E}year)');
  assert.equal(said('Whatever', ''), 'Whatever');
});
