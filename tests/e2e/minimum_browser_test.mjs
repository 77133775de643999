/**
 * The extension uses only features of the oldest browser that its manifest admits. That browser is
 * no longer available: MDN's data has its features. Only the names of methods are known, so a
 * method passes if any object had a method of that name.
 */
import assert from 'node:assert/strict';
import { readdir, readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { test } from 'node:test';
import { parse } from 'acorn';
import { ancestor, full } from 'acorn-walk';
import { EXTENSION } from './support/chromium.js';

const data = createRequire(import.meta.url)('@mdn/browser-compat-data');
const { api, css, javascript: { builtins }, webextensions } = data;
const { minimum_chrome_version: minimum } = JSON.parse(await readFile(`${EXTENSION}/manifest.json`, 'utf8'));

/** Features that are used only where they exist, or names of the extension's own. */
const LET_PASS = new Set([
  // Omitted if the browser rejects it: stand_in_scripts.js.
  'matchOriginAsFallback',
]);

const versionOf = (text) => Number(/\d+/.exec(text)?.[0] ?? NaN);

/** Whether the oldest browser has the feature of an entry; true if that is unknown. */
function isThere(entry) {
  const support = entry?.__compat?.support.chrome;
  if (!support) return true;
  return [support].flat().some((each) => !each.flags && each.version_added
    && !(versionOf(each.version_added) > Number(minimum)) && !(versionOf(each.version_removed) <= Number(minimum)));
}

/** The entries of all members by name: of interfaces, of built-in objects, of their prototypes. */
const members = new Map();
for (const owner of [...Object.values(api), ...Object.values(builtins)]) {
  for (const [name, entry] of Object.entries(owner)) {
    if (name === '__compat') continue;
    const plain = name.replace(/_(static|event)$/, '');
    if (!members.has(plain)) members.set(plain, []);
    members.get(plain).push(entry);
  }
}

/** The names of a chain such as `chrome.tabs.query`; undefined if it has other parts. */
function chainOf(node) {
  if (node.type === 'Identifier') return [node.name];
  if (node.type === 'ChainExpression') return chainOf(node.expression);
  if (node.type !== 'MemberExpression' || node.computed) return undefined;
  const before = chainOf(node.object);
  return before && [...before, node.property.name];
}

/** The entry of the extension API that a chain names; null for an unknown one. */
function extensionEntry([owner, ...names]) {
  const path = ['chrome', 'browser'].includes(owner) ? names : [owner, ...names];
  const space = webextensions.api[path[0]];
  if (!space) return ['chrome', 'browser'].includes(owner) && path[0] ? null : undefined;
  return path.length > 1 ? space[path[1]] : space;
}

const read = (text, sourceType = 'module') => parse(text, { ecmaVersion: 2023, sourceType });

/** The names that a program declares. */
function ownNames(program) {
  const own = new Set();
  const name = (node) => node?.type === 'Identifier' && own.add(node.name);
  full(program, (node) => {
    name(node.type === 'ImportSpecifier' ? node.local : node.id);
    (node.params ?? []).forEach(name);
    if (['Property', 'MethodDefinition', 'PropertyDefinition'].includes(node.type) && !node.computed) name(node.key);
  });
  return own;
}

/**
 * The features of a program that the oldest browser lacks; `own` has names of the extension's own.
 */
function lackingIn(program, own = ownNames(program)) {
  const lacking = new Set();
  const check = (said, entry) => {
    if (!isThere(entry) && !LET_PASS.has(said)) lacking.add(said);
  };
  ancestor(program, {
    Identifier(node) {
      if (!own.has(node.name)) check(node.name, builtins[node.name] ?? api[node.name] ?? api.Window[node.name]);
    },
    Property({ key }) {
      if (LET_PASS.has(key.name)) return;
      const options = webextensions.api.scripting.RegisteredContentScript?.[key.name];
      if (options) check(key.name, options);
    },
    MemberExpression(node) {
      const chain = chainOf(node);
      const { name: member } = node.property;
      if (chain) {
        const entry = extensionEntry(chain);
        if (entry === null) lacking.add(chain.join('.'));
        if (entry) check(chain.join('.'), entry);
        const [owner, last] = chain.slice(-2);
        check(`${owner}.${last}`, builtins[owner]?.[`${last}_static`] ?? builtins[owner]?.[last]
          ?? api[owner]?.[`${last}_static`]);
      }
      const isOwn = own.has(member) || member in webextensions.api || member in webextensions.api.storage;
      const known = !node.computed && !isOwn && members.get(member);
      if (known && !known.some(isThere)) lacking.add(`.${member}`);
    },
  });
  return [...lacking].sort();
}

/** The same for style sheets, also for those in scripts and pages. */
function lackingInStyles(text) {
  const found = (pattern) => [...text.matchAll(pattern)].map(([, name]) => name);
  return [
    ...found(/(?:^|[{;\s"'`])([a-z-]+)\s*:(?!:)/g).filter((name) => !isThere(css.properties[name])),
    ...found(/::?([a-z-]+)/g).filter((name) => !isThere(css.selectors[name])).map((name) => `:${name}`),
    ...found(/@([a-z-]+)/g).filter((name) => !isThere(css['at-rules'][name])).map((name) => `@${name}`),
  ];
}

const files = (await readdir(EXTENSION, { recursive: true, withFileTypes: true }))
  .filter((entry) => entry.isFile() && /\.(js|css|html)$/.test(entry.name))
  .map((entry) => `${entry.parentPath ?? entry.path}/${entry.name}`);

test(`the extension uses no features newer than Chrome ${minimum}`, async () => {
  assert.ok(files.length > 100);
  const programs = new Map();
  const lacking = {};
  const note = (file, all) => {
    if (all.length > 0) lacking[file.slice(EXTENSION.length)] = all;
  };
  for (const file of files) {
    const text = await readFile(file, 'utf8');
    if (file.endsWith('.js')) programs.set(file, read(text, /^(import|export) /m.test(text) ? 'module' : 'script'));
    if (!file.endsWith('.js') || /style/.test(file)) note(file, lackingInStyles(text));
  }
  const own = new Set([...programs.values()].flatMap((program) => [...ownNames(program)]));
  for (const [file, program] of programs) note(file, lackingIn(program, own));
  assert.deepEqual(lacking, {});
});

test('the check finds newer features', () => {
  const later = {
    'Promise.try(() => 1)': ['Promise.try'],
    'Array.fromAsync([])': ['Array.fromAsync'],
    'chrome.userScripts.execute({})': ['chrome.userScripts.execute'],
    'Promise.withResolvers()': ['Promise.withResolvers'],
    'Object.groupBy([], String)': ['Object.groupBy'],
    'new Set().union(new Set())': ['.union'],
    'new CloseWatcher()': ['CloseWatcher'],
    'element.setHTMLUnsafe("")': ['.setHTMLUnsafe'],
    'chrome.tabs.query({}); [].findLast(String); structuredClone(1)': [],
  };
  for (const [text, expected] of Object.entries(later)) {
    const found = lackingIn(read(text));
    assert.ok(expected.every((name) => found.includes(name)), `${text}: ${found}`);
    assert.equal(found.length > 0, expected.length > 0, `${text}: ${found}`);
  }
  assert.deepEqual(lackingInStyles('a { field-sizing: content; color: red } p:has-slotted { display: block }'), ['field-sizing', ':has-slotted']);
  assert.throws(() => read('/(?i:a)/'), SyntaxError);
});
