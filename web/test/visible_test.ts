import assert from 'node:assert/strict';
import {test} from 'node:test';
import {Steady, steadyMs} from '../src/ui/steady.ts';
import {visible} from '../src/ui/visible.ts';

test('invisible characters are shown as their code points', () => {
  const codes = [0, 7, 8, 0x0b, 0x0c, 0x0d, 0x1b, 0x7f, 0x85, 0x9b, 0xad, 0x34f, 0x61c, 0x115f, 0x1160, 0x17b4, 0x180b, 0x180e, 0x200b, 0x200c,
    0x200d, 0x200e, 0x200f, 0x2028, 0x2029, 0x202a, 0x202b, 0x202c, 0x202d, 0x202e, 0x2060, 0x2061, 0x2064, 0x2066, 0x2067, 0x2068,
    0x2069, 0x206a, 0x206f, 0x3164, 0xd800, 0xdfff, 0xfe00, 0xfe0f, 0xfeff, 0xffa0, 0xfff9, 0xfffb, 0x1d173, 0xe0001, 0xe0020, 0xe007f, 0xe0100, 0xe01ef];
  for (const code of codes) {
    const shown = `\\u{${code.toString(16).toUpperCase()}}`;
    assert.equal(visible(`a${String.fromCodePoint(code)}b`), `a${shown}b`, shown);
  }
});

test('visible text stays unchanged, and misplaced emoji modifiers are escaped', () => {
  for (const text of ['rm -rf "a b" | c\n\td\r\ne', 'Größe, 大小, размер, שלום, سلام, e\u0301', '👍', '👍🏽', '❤️', '👩‍💻', '🏳️‍🌈', '👨‍👩‍👧‍👦', '1️⃣', '©️ ™']) {
    assert.equal(visible(text), text);
  }
  // Tag characters after an emoji, and joiners without two emojis to join.
  assert.equal(visible('🏴\u{e0067}\u{e007f}'), '🏴\\u{E0067}\\u{E007F}');
  assert.equal(visible('👍\u200da\u200d👍'), '👍\\u{200D}a\\u{200D}👍');
  assert.equal(visible('👍\ufe0f\ufe0f'), '👍\ufe0f\\u{FE0F}');
  assert.equal(visible('1\ufe0f'), '1\\u{FE0F}');
});

test('a text is steady once it has been visible in one place for long enough', () => {
  const steady = new Steady();
  assert.equal(steady.look('here: a', 1_000), false);
  assert.equal(steady.look('here: a', 1_000 + steadyMs - 1), false);
  assert.equal(steady.look('here: a', 1_000 + steadyMs), true);
  // Another text in the same place, another place, and a moment out of sight.
  for (const [as, at] of [['here: b', 2_000], ['there: b', 3_000], [null, 4_000], ['there: b', 4_001]] as const) {
    assert.equal(steady.look(as, at), false);
    assert.equal(steady.look(as, at + steadyMs - 1), false);
  }
  assert.equal(steady.look('there: b', 4_001 + steadyMs), true);
  assert.equal(steady.look(null, 9_000), false);
  assert.equal(steady.look(null, 10_000), false);
});
