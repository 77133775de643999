/** ARCHITECTURE.md stays short, and is true of the folders, files and includes. */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { test } from 'node:test';
import { root } from './support.mjs';

const MOST_BYTES = 12 << 10;
const text = readFileSync(`${root}/ARCHITECTURE.md`, 'utf8');
const tracked = execFileSync('git', ['-C', root, 'ls-files'], { encoding: 'utf8' }).trim().split('\n');
const folders = new Set(tracked.flatMap((file) => {
  const parents = [];
  for (let folder = dirname(file); folder !== '.'; folder = dirname(folder)) parents.push(folder);
  return parents;
}));

/** The blocks without a language: the folders, then the includes. */
const [tree, includes] = [...text.matchAll(/\n```\n([\s\S]*?)\n```\n/g)].map(([, block]) => block.split('\n'));

/** The folders of the tree, by their paths: [path, description]. */
function listed() {
  const parents = [];
  return tree.map((line) => {
    const [, indentation, name, description] = /^( *)(\S+)\/(?: +(\S.*))?$/.exec(line) ?? assert.fail(line);
    assert.equal(indentation.length % 2, 0, line);
    const depth = indentation.length / 2;
    assert.ok(depth <= parents.length, `${line} has no parent`);
    parents.splice(depth, Infinity, name);
    return [parents.join('/'), description];
  });
}

test('ARCHITECTURE.md stays within its size limit', () => {
  assert.ok(Buffer.byteLength(text) <= MOST_BYTES, `${Buffer.byteLength(text)} bytes, of ${MOST_BYTES}`);
});

test('ARCHITECTURE.md lists each folder with sources', () => {
  const known = new Map(listed());
  const missing = new Set(tracked
    .filter((file) => /^(services|web|extension|proto|tests|deploy|examples)\//.test(file))
    .filter((file) => /\.(cc|h|proto|ts|tsx|css|html|js|mjs|sh)$/.test(file))
    .map((file) => dirname(file)).filter((folder) => !known.get(folder)));
  assert.deepEqual([...missing].sort(), []);
});

test('ARCHITECTURE.md lists only existing folders, each once', () => {
  const paths = listed().map(([path]) => path);
  assert.deepEqual(paths.filter((path) => !folders.has(path)), []);
  assert.equal(new Set(paths).size, paths.length);
});

test('ARCHITECTURE.md names only existing files and folders', () => {
  const prose = text.replaceAll(/\n```[\s\S]*?\n```\n/g, '\n');
  const paths = [...prose.matchAll(/`([\w./*-]+)`/g)].map(([, path]) => path).filter((path) => !/^\/|\/$/.test(path));
  /**
   * Matches a path from the root or from services/, with any extension; `*` is a part of a name.
   */
  const matches = (path, file) => new RegExp(`^(services/)?${
    path.replaceAll(/[.]/g, '\\.').replaceAll('*', '[^/]*')}(\\.\\w+)?$`).test(file);
  const known = [...tracked, ...folders];
  const named = paths.filter((path) => path.includes('/'));
  assert.ok(named.length > 10, `${named.length}`);
  const short = (file) => file.replace(/^services\/(tracker|gateway|bridge|runner)\//, '');
  assert.deepEqual(named.filter((path) =>
    !known.some((file) => matches(path, file) || matches(path, short(file)))), []);
});

test('ARCHITECTURE.md names only declared classes and RPCs', () => {
  const headers = tracked.filter((file) => /^services\/.*\.h$/.test(file))
    .map((file) => readFileSync(`${root}/${file}`, 'utf8')).join('\n');
  const protos = tracked.filter((file) => /^proto\/.*\.proto$/.test(file))
    .map((file) => readFileSync(`${root}/${file}`, 'utf8')).join('\n');
  const names = new Set([...text.matchAll(/`([A-Z][a-z]+(?:[A-Z][a-z]+)+|Serve|Journal)`/g)].map(([, name]) => name));
  assert.ok(names.size > 10, `${names.size}`);
  assert.deepEqual([...names].filter((name) =>
    !new RegExp(`(class|struct) ${name}\\b`).test(headers) && !new RegExp(`rpc ${name}\\(`).test(protos)), []);
});

test('the folders of services include each other as ARCHITECTURE.md lists', () => {
  const said = Object.fromEntries(includes.map((line) => {
    const [, folder, others] = /^(\w+) +(\S.*)$/.exec(line) ?? assert.fail(line);
    const names = others.replaceAll(/ \([^)]*\)/g, '');
    return [folder, names === '-' ? [] : names.split(', ').sort()];
  }));
  const found = Object.fromEntries(Object.keys(said).map((folder) => [folder, new Set()]));
  const isOfTests = /_test\.cc$|fixture|\/fake_|\/testing\//;
  for (const file of tracked.filter((each) => /^services\/.*\.(cc|h)$/.test(each) && !isOfTests.test(each))) {
    const [, folder] = file.split('/');
    for (const [, other] of readFileSync(`${root}/${file}`, 'utf8').matchAll(/#include "(\w+)\/[^"]*"/g)) {
      if (other !== folder && existsSync(`${root}/services/${other}`)) found[folder].add(other);
    }
  }
  assert.deepEqual(Object.fromEntries(Object.entries(found).map(([folder, others]) => [folder, [...others].sort()])),
    said);
});

/** A cycle in a graph of Map(name → names), as a list of names; null if there is none. */
function circleIn(graph) {
  const done = new Set();
  const visit = (name, path) => {
    if (path.includes(name)) return [...path.slice(path.indexOf(name)), name];
    if (done.has(name)) return null;
    for (const next of graph.get(name) ?? []) {
      const circle = visit(next, [...path, name]);
      if (circle) return circle;
    }
    done.add(name);
    return null;
  };
  for (const name of graph.keys()) {
    const circle = visit(name, []);
    if (circle) return circle;
  }
  return null;
}

/** A graph of the matching files: `key` of a file → the keys of its imports. */
function graphOf(files, importsOf, key) {
  const graph = new Map();
  for (const file of files) {
    for (const other of importsOf(file).map(key)) {
      if (other === key(file)) continue;
      if (!graph.has(key(file))) graph.set(key(file), new Set());
      graph.get(key(file)).add(other);
    }
  }
  return graph;
}

test('the modules of the page have no import cycle', () => {
  assert.deepEqual(circleIn(new Map([['a', ['b']], ['b', ['c']], ['c', ['b']]])), ['b', 'c', 'b']);
  const modules = tracked.filter((file) => /^web\/src\/.*\.tsx?$/.test(file));
  const graph = graphOf(modules, (file) => [...readFileSync(`${root}/${file}`, 'utf8').matchAll(/from '(\.[^']+)'/g)]
    .map(([, path]) => join(dirname(file), path)), (file) => file);
  assert.ok(graph.size > 50, `${graph.size}`);
  assert.equal(circleIn(graph), null);
});

test('the folders of the bridge, MCP and the tracker\'s server have no include cycle', () => {
  const sources = tracked.filter((file) => /^services\/(bridge|gateway\/mcp|tracker\/(server|rpc))\/.*\.(cc|h)$/.test(file) &&
    !/_test\.cc$|fixture/.test(file));
  const known = new Set(sources);
  const graph = graphOf(sources, (file) => [...readFileSync(`${root}/${file}`, 'utf8').matchAll(/#include "([^"]+)"/g)]
    .map(([, path]) => `services/${path}`).filter((path) => known.has(path)), dirname);
  assert.ok(graph.size >= 8, `${graph.size}`);
  assert.equal(circleIn(graph), null);
});
