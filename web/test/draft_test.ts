import assert from 'node:assert/strict';
import {beforeEach, test} from 'node:test';
import {ApiError, me} from '../src/api/http.ts';
import {Draft, draftOf, type Message, promptId} from '../src/conversation/draft.ts';

// The content of the browser's storage, and whether the storage is full.
let kept = new Map<string, string>();
let isFull = false;
Object.assign(globalThis, {localStorage: {
  getItem: (name: string) => kept.get(name) ?? null,
  setItem: (name: string, value: string) => {
    if (isFull) throw new DOMException('full', 'QuotaExceededError');
    kept.set(name, value);
  },
  removeItem: (name: string) => { kept.delete(name); },
}, addEventListener: () => {}, document: {addEventListener: () => {}}});
beforeEach(() => {
  kept = new Map();
  isFull = false;
});

// A gateway that answers when the test says so.
class Gateway {
  readonly got: Message[] = [];
  private ends: ((failure?: unknown) => void)[] = [];
  readonly deliver = (message: Message) => new Promise<void>((resolve, reject) => {
    this.got.push(message);
    this.ends.push(failure => (failure ? reject(failure) : resolve()));
  });
  async answer(failure?: unknown) {
    this.ends.shift()!(failure);
    await new Promise(resolve => { setImmediate(resolve); });
  }
}
const lost = new ApiError(0, 'gateway_unreachable', 'The gateway cannot be reached.', '');
const image = (name: string) => ({name, type: 'image/png'}) as File;
const uploaded = async (file: File) => ({id: `id-${file.name}`, name: file.name});
const textOf = (draft: Draft) => draft.written.peek().text;

test('the same content keeps its prompt id, and other content never gets it', async () => {
  const [draft, gateway] = [new Draft('d'), new Gateway()];
  const tryIt = async (isNow = false) => {
    void draft.send(isNow, gateway.deliver);
    await gateway.answer(lost);
    return gateway.got.at(-1)!.prompt_id;
  };
  draft.write('Deploy to production');
  const first = await tryIt();
  assert.equal(await tryIt(), first);
  const others = [await tryIt(true)];
  draft.write('Do NOT deploy: run the tests first');
  others.push(await tryIt());
  await draft.attach([image('a')], uploaded);
  others.push(await tryIt());
  draft.leaveOut('id-a');
  draft.write('Deploy to production');
  // A text keeps its id after attempts with another text, and after a reload of the page.
  assert.equal(await tryIt(), first);
  void new Draft('d').send(false, gateway.deliver);
  assert.equal(gateway.got.at(-1)!.prompt_id, first);
  assert.equal(new Set([first, ...others]).size, 4);
});

test('a delivered or cleared message gets a new id when it is written again', async () => {
  const [draft, gateway] = [new Draft('d'), new Gateway()];
  for (const end of [undefined, new ApiError(409, 'duplicate_prompt', '', ''), 'emptied']) {
    draft.write('go on');
    void draft.send(false, gateway.deliver);
    await gateway.answer(end === 'emptied' ? lost : end);
    draft.write('');
  }
  assert.equal(new Set(gateway.got.map(({prompt_id: id}) => id)).size, 3);
  assert.deepEqual([...kept], []);
});

test('a prompt id that another message has is replaced, and the draft stays', async () => {
  const [draft, gateway] = [new Draft('d'), new Gateway()];
  draft.write('one');
  void draft.send(false, gateway.deliver);
  await gateway.answer(new ApiError(409, 'prompt_id_reused', '', ''));
  assert.equal(textOf(draft), 'one');
  assert.match((draft.error.value as ApiError).hint, /Send it again/);
  void draft.send(false, gateway.deliver);
  await gateway.answer();
  assert.notEqual(gateway.got[0]!.prompt_id, gateway.got[1]!.prompt_id);
  assert.equal(textOf(draft), '');
  assert.equal(draft.error.value, null);
});

test('text written while a draft is sent stays, wherever it is inserted', async () => {
  const cases: [string[], string][] = [
    [['one'], ''], [['one and two'], ' and two'], [['zero one'], 'zero '], [['zero one', 'zero one two'], 'zero  two'],
    // Rewritten.
    [['', 'on', 'one more'], 'one more'], [['another'], 'another'], [['oxne'], 'oxne'], [[''], ''], [['one\n'], ''],
  ];
  for (const [steps, left] of cases) {
    const [draft, gateway] = [new Draft('d'), new Gateway()];
    draft.write('one');
    void draft.send(false, gateway.deliver);
    for (const each of steps) draft.write(each);
    await gateway.answer();
    assert.equal(textOf(draft), left, JSON.stringify(steps));
    assert.equal(textOf(new Draft('d')), left, JSON.stringify(steps));
    draft.write('');
  }
});

test('images attached while a draft is sent stay, even one that is being sent', async () => {
  const [draft, gateway] = [new Draft('d'), new Gateway()];
  await draft.attach([image('a'), image('b')], uploaded);
  draft.write('look');
  void draft.send(false, gateway.deliver);
  await draft.attach([image('b'), image('c')], uploaded);
  await gateway.answer();
  assert.deepEqual(gateway.got[0]!.image_ids, ['id-a', 'id-b']);
  assert.deepEqual(draft.written.peek().images.map(({id}) => id), ['id-b', 'id-c']);
});

test('a failed send keeps the text and images of the draft', async () => {
  const [draft, gateway] = [new Draft('d'), new Gateway()];
  await draft.attach([image('a')], uploaded);
  draft.write('one');
  void draft.send(false, gateway.deliver);
  draft.write('one two');
  await gateway.answer(lost);
  assert.equal(textOf(draft), 'one two');
  assert.equal(draft.written.peek().images.length, 1);
  assert.equal(draft.error.value, lost);
  assert.equal(draft.isSending.value, false);
});

test('text written during uploads stays, and uploads run at the same time', async () => {
  const draft = new Draft('d');
  const ends: (() => void)[] = [];
  const upload = (file: File) => new Promise<{id: string; name: string} | undefined>(resolve => {
    ends.push(() => resolve(file.name === 'none' ? undefined : {id: file.name, name: file.name}));
  });
  const all = [draft.attach([image('a')], upload), draft.attach([image('b')], upload), draft.attach([image('none')], upload)];
  draft.write('look at these');
  for (const end of ends) end();
  await Promise.all(all);
  assert.equal(textOf(draft), 'look at these');
  assert.deepEqual(draft.written.peek().images.map(({id}) => id), ['a', 'b']);
  assert.equal(draft.uploads.value, 0);
});

test('two tabs share a draft, and neither overwrites unseen text of the other', async () => {
  const [one, other] = [new Draft('d'), new Draft('d')];
  one.write('of one');
  other.exchange();
  assert.equal(textOf(other), 'of one');
  other.write('of one, gone on');
  // Before `one` has read that text.
  one.write('of one, otherwise');
  assert.equal(textOf(one), 'of one, gone on\n\nof one, otherwise');
  other.exchange();
  assert.equal(textOf(other), textOf(one));
  // The sent text is removed from both tabs, and text that the other tab adds meanwhile stays in
  // both.
  const gateway = new Gateway();
  const both = textOf(one);
  void one.send(false, gateway.deliver);
  other.write(`${both} and more`);
  await gateway.answer();
  other.exchange();
  assert.deepEqual([textOf(one), textOf(other)], [' and more', ' and more']);
});

test('a draft loses nothing when the browser cannot store it', async () => {
  const [draft, gateway] = [new Draft('d'), new Gateway()];
  draft.write('kept');
  isFull = true;
  draft.write('kept no more');
  assert.equal(textOf(draft), 'kept no more');
  assert.equal(draft.isKept.value, false);
  draft.exchange();
  assert.equal(textOf(draft), 'kept no more');
  isFull = false;
  draft.write('kept again');
  assert.equal(draft.isKept.value, true);
  assert.equal(textOf(new Draft('d')), 'kept again');
  const before = globalThis.localStorage;
  Object.defineProperty(globalThis, 'localStorage', {configurable: true, get() { throw new DOMException('off', 'SecurityError'); }});
  try {
    const off = new Draft('d');
    off.write('one');
    void off.send(false, gateway.deliver);
    off.write('one two');
    await gateway.answer();
    assert.equal(textOf(off), ' two');
  } finally {
    Object.defineProperty(globalThis, 'localStorage', {configurable: true, writable: true, value: before});
  }
});

test('an invalid stored draft is read without images', () => {
  for (const each of ['', '{', 'null', '[]', '{"text":1}', '{"text":"a","images":5}']) {
    kept.set('d', each);
    assert.deepEqual(new Draft('d').written.peek().images, [], each);
  }
});

test('a changed edit of a message that left the queue moves to the draft text', () => {
  const draft = new Draft('d');
  draft.edit('m1', {text: 'one, changed', of: 'one'});
  draft.edit('m2', {text: 'two', of: 'two'});
  draft.edit('m3', {text: '', of: 'three'});
  assert.equal(new Draft('d').written.peek().edits.m1?.text, 'one, changed');
  assert.equal(draft.keepEdits(new Set(['m1', 'm2', 'm3'])), false);
  assert.equal(draft.keepEdits(new Set(['m3'])), true);
  assert.equal(textOf(draft), 'one, changed');
  assert.deepEqual(Object.keys(draft.written.peek().edits), ['m3']);
});

test('each user has separate drafts', () => {
  const as = (name: string) => { me.value = {name, role: 'client', may_act: true, sees_all_clients: false, tokens: true, version: ''}; };
  as('alice');
  draftOf('s').write('of alice');
  as('bob');
  assert.equal(textOf(draftOf('s')), '');
  draftOf('s').write('of bob');
  as('alice');
  assert.equal(textOf(draftOf('s')), 'of alice');
  me.value = null;
});

test('prompt ids of different texts differ', () => {
  const ids = new Set(Array.from({length: 20_000}, (_, at) => promptId({text: `${at}`, images: [], edits: {}, nonce: 'n'}, false)));
  assert.equal(ids.size, 20_000);
});
