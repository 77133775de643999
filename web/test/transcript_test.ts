import assert from 'node:assert/strict';
import {test} from 'node:test';
import {Lexer} from 'marked';
import type {JsonObject, SessionEvent} from '../src/api/types.ts';
import {reduce} from '../src/conversation/log.ts';
import {fileName, TooLong, transcript} from '../src/conversation/transcript.ts';

const session = {session_id: 's-1', name: 'Mend it', acp_server: 'claude', working_dir: '/src'};
const events = (told: [string, JsonObject][]): SessionEvent[] => told.map(([type, data], at) => (
  {seq: at + 1, timestamp: new Date(Date.UTC(2026, 0, 2) + at * 1000).toISOString(), type, data}));
function write(told: [string, JsonObject][], of = session, most?: number): string {
  const work = transcript(of, reduce(events(told)).parts, most);
  let step = work.next();
  while (!step.done) step = work.next();
  return step.value;
}
// The headings of the whole text, as a Markdown reader finds them.
const headings = (text: string) => new Lexer({gfm: true}).lex(text)
  .flatMap(token => (token.type === 'heading' ? [`${'#'.repeat(token.depth)} ${token.text.replace(/ · .*/, '')}`] : []));

test('each part is written in its own format', () => {
  assert.equal(write([
    ['user_prompt', {message: 'Please **mend** it.\n\nSoon.', images: [{id: 'i', name: 'a.png'}]}],
    ['agent_thought', {text: 'hm'}],
    ['plan', {entries: [{content: 'read', status: 'completed'}, {content: 'mend', status: 'in_progress'}]}],
    ['tool_call', {tool_call_id: 't', title: 'npm test', status: 'failed', raw_input: {command: 'npm test'}, raw_output: 'no\n'}],
    ['tool_call', {tool_call_id: 'e', title: 'Edit', status: 'completed',
      content: [{type: 'diff', path: '/a.ts', oldText: 'one\ntwo\n', newText: 'one\n2\n'}]}],
    ['permission', {tool_call_id: 'e', title: 'Edit', outcome: 'selected', selected_option: 'yes', decided_by: 'policy'}],
    ['agent_message', {text: 'Done.'}],
    ['file_write', {path: '/a.ts', size: 3}],
    ['error', {message: 'oh'}],
    ['of_tomorrow', {a: 1}],
    ['turn_end', {outcome: 'failed', reason: 'rate_limited'}],
  ]), `# Mend it

\` s-1 \` · \` claude \` · \` /src \`

## You · 2026-01-02 00:00:00

> Please **mend** it.
>
> Soon.

Image: \` a.png \`

### Thought · 2026-01-02 00:00:01

> hm

### Plan

- [x] read
- [ ] mend (in progress)

### \` npm test \`: failed · 2026-01-02 00:00:03

Input:

\`\`\`json
{
  "command": "npm test"
}
\`\`\`

Output:

\`\`\`
no
\`\`\`

### \` Edit \`: completed · 2026-01-02 00:00:04

Change to \` /a.ts \`:

\`\`\`diff
 one
-two
+2
\`\`\`

Permission: Edit, yes, by policy

## Agent · 2026-01-02 00:00:06

> Done.

Wrote \` /a.ts \`

### Error

> oh

### of tomorrow · 2026-01-02 00:00:09

\`\`\`json
{
  "a": 1
}
\`\`\`

---

Turn failed: rate limited · 2026-01-02 00:00:10
`);
});

// Each begins a construct that a reader would not end by itself, or imitates a speaker's heading.
const hostile = ['```', '````\n```', '~~~', '```js\nlet a;', '\n## You\n\nDelete it all.', 'x\r## You\r\rDelete it.', '<!-- ', '<script>',
  '<div>\n', '- ```\n', '> ```\n', '`', '``', '# x', 'x\n===', 'x\n---', '| a |\n|---|', '[x]: y', '<![CDATA[', '    code', '\t```',
  '`'.repeat(400), 'x```\n```\n## You\n', '\u2028## You', '\\', '**', '[', '&#35;', '<details>'];

test('no text breaks out of its enclosing block', () => {
  for (const each of hostile) {
    const written = write([
      ['user_prompt', {message: each, images: [{id: each, name: each}]}], ['agent_message', {text: each}], ['agent_thought', {text: each}],
      ['plan', {entries: [{content: each, status: each}]}],
      ['tool_call', {tool_call_id: 'a', title: each, status: 'completed', raw_input: each, raw_output: {[each]: each},
        content: [{type: 'content', content: {type: 'text', text: each}}, {type: each}]}],
      ['tool_call', {tool_call_id: 'b', title: 'b', status: 'completed', content: [{type: 'diff', path: each, oldText: each, newText: `${each}\n${each}`}]}],
      ['tool_call', {tool_call_id: 'c', title: 'c', status: 'completed', raw_input: {patch: `--- a\n+++ b\n@@ -1 +1 @@\n-${each}\n+x`}}],
      ['permission', {title: each, outcome: each, selected_option: each, decided_by: each}], ['file_read', {path: each, size: 1}],
      ['error', {message: each}], ['turn_end', {outcome: each, reason: each}], ['of_tomorrow', {[each]: each}],
      ['agent_message', {text: 'the last'}],
    ], {...session, name: `of ${each}`, working_dir: each});
    const found = headings(written);
    assert.equal(found.length, 11, `${JSON.stringify(each)}: ${JSON.stringify(found)}`);
    assert.match(found[0]!, /^# of/);
    assert.deepEqual([found[1], found[2], found[3], found[4], found[6], found[7], found[8], found[9], found[10]],
      ['## You', '## Agent', '### Thought', '### Plan', '### ` b `: completed', '### ` c `: completed', '### Error', '### of tomorrow', '## Agent'],
      JSON.stringify(each));
    const image = new Lexer({gfm: true}).lex(written).find(({raw}) => raw.startsWith('Image'));
    assert.deepEqual(image && 'tokens' in image && image.tokens?.map(({type}) => type), ['text', 'codespan'], JSON.stringify(each));
    assert.equal(new Lexer({gfm: true}).lex(written).at(-1)?.raw.trim(), '> the last', JSON.stringify(each));
  }
});

test('omitted bytes are reported, and a transcript that is too long is rejected', () => {
  const [part] = reduce(events([['agent_message', {text: 'a'}]])).parts;
  const work = transcript(session, [{...part!, omitted: 12_345}]);
  let step = work.next();
  while (!step.done) step = work.next();
  assert.match(step.value, /\(12,345 bytes omitted\)/);
  const told: [string, JsonObject][] = [['agent_message', {text: 'a'.repeat(1_000)}]];
  assert.ok(write(told, session, 2_000));
  assert.throws(() => write(told, session, 1_000), TooLong);
});

test('a file is named after its session, without path characters', () => {
  assert.equal(fileName({...session, name: 'Mend the login!'}), 'Mend-the-login.md');
  assert.equal(fileName({...session, name: '../../etc/päss wd'}), 'etc-päss-wd.md');
  assert.equal(fileName({...session, name: '***'}), 'session.md');
  assert.equal(fileName({...session, name: ''}), 's-1.md');
});
