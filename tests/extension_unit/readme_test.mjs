/** The README documents each action and its parameters, and no others. */
import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { describe, test } from 'node:test';
import { actions } from '../../extension/src/actions/index.js';

const readme = await readFile(new URL('../../extension/README.md', import.meta.url), 'utf8');

/** Words in code, in the column of parameters, that are values or examples. */
const VALUES = new Set([
  'true', 'false', 'visible', 'hidden', 'attached', 'debug', 'log', 'info', 'warn', 'error',
  'Enter', 'a', 'Control+A', 'double', 'right', 'middle', 'Control+Shift', 'force', 'ArrowDown*3 Tab Enter', '{e9', 'e12', '300,120', '**/done', '+0,-40', 'about:blank',
]);

const inCode = (cell) => [...cell.matchAll(/`([^`]+)`/g)].map(([, text]) => text);

/** The parameters by action, from the rows of the table. */
function described() {
  const table = {};
  for (const line of readme.split('\n')) {
    const [, names, parameters] = line.split('|');
    if (!names?.startsWith(' `') || parameters === undefined) continue;
    const words = inCode(parameters).map((text) => (VALUES.has(text) ? text : text.split(':')[0]));
    for (const name of inCode(names)) table[name] ??= words.filter((word) => !VALUES.has(word));
  }
  return table;
}

/**
 * The parameters that the check of an action reads, with valid values; repetitions do not count.
 */
function askedFor(action) {
  const fine = {
    script: '1', url: 'http://page.test/', selector: '#a', text: 'a', key: 'a', value: 'a', tab_id: 7,
    fields: { e9: 'a' }, to: '+1,1',
    files: [{ file_id: 'f', name: 'a', mime_type: '', size: 1 }],
    steps: [{ action: 'back' }],
  };
  const asked = new Set();
  action.check(new Proxy(fine, {
    get(params, name) {
      asked.add(name);
      return params[name];
    },
  }));
  return asked;
}

describe('the README', () => {
  const table = described();
  for (const [name, action] of Object.entries(actions)) {
    test(`documents the parameters of ${name}`, () => {
      assert.deepEqual([...askedFor(action)].sort(), [...new Set(table[name])].sort());
    });
  }
});
