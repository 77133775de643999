/**
 * The version, and every place that names it. CMakeLists.txt has it; compiled code and the Debian
 * package take it from there. The other places can't: tests/deploy verifies them.
 *
 *   node deploy/release/version.mjs            prints the version
 *   node deploy/release/version.mjs check      names the places that differ; exits with 1 if one does
 *   node deploy/release/version.mjs set 1.2.3  writes it to all of them but the change log
 */
import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { argv, exit, stderr, stdout } from 'node:process';
import { fileURLToPath } from 'node:url';

/** Only numbers: the extension's manifest takes nothing else, and none above 65,535. */
const VERSION = /^(0|[1-9]\d{0,3})\.(0|[1-9]\d{0,3})\.(0|[1-9]\d{0,3})$/;

const SOURCE = { files: /^CMakeLists\.txt$/, pattern: /^project\(callslip VERSION (\d+\.\d+\.\d+)/dgm };

/** The places: the pattern of a file's path, and a pattern in which group 1 is the version. */
const PLACES = [
  SOURCE,
  // Manifests: of the extension, of bundles, of npm's packages, for the registry.
  {
    files: /(^|\/)(manifest|package|server)\.json$/,
    pattern: /^ +"version": "(\d+\.\d+\.\d+)"/dgm,
  },
  // The launcher for npm requires the programs of its own version.
  { files: /(^|\/)package\.json$/, pattern: /^ +"callslip-[a-z0-9-]+": "(\d+\.\d+\.\d+)"/dgm },
  { files: /(^|\/)server\.json$/, pattern: /^ +"identifier": ".*?-(\d+\.\d+\.\d+)[-.]/dgm },
  // Answers of our programs in the documents.
  { files: /^docs\/[^/]+\.md$/, pattern: /"version": "(\d+\.\d+\.\d+)"/dg },
  // The newest section, which only a person can write.
  { files: /^CHANGELOG\.md$/, pattern: /^## \[(\d+\.\d+\.\d+)\]/dm, byHand: true },
];

/** Tracked files, and new files that are not ignored. */
export function filesOf(root) {
  const list = ['ls-files', '-z', '--cached', '--others', '--exclude-standard'];
  return execFileSync('git', list, { cwd: root, encoding: 'utf8' }).split('\0').filter(Boolean);
}

function matches(text, pattern) {
  if (pattern.global) return [...text.matchAll(pattern)];
  const first = text.match(pattern);
  return first ? [first] : [];
}

/** Every place below `root`: [{file, line, version, span, byHand}], in the order of files. */
export function placesOf(root, files = filesOf(root)) {
  const found = [];
  for (const file of files) {
    for (const { pattern, byHand = false } of PLACES.filter((place) => place.files.test(file))) {
      const text = readFileSync(join(root, file), 'utf8');
      for (const match of matches(text, pattern)) {
        const line = text.slice(0, match.index).split('\n').length;
        found.push({ file, line, version: match[1], span: match.indices[1], byHand });
      }
    }
  }
  return found;
}

export function versionOf(root) {
  const [match] = matches(readFileSync(join(root, 'CMakeLists.txt'), 'utf8'), SOURCE.pattern);
  if (!match) throw new Error('CMakeLists.txt has no line "project(callslip VERSION 1.2.3"');
  return match[1];
}

/** `FILE:LINE says 1.2.3` for each place that differs. */
export function differences(root) {
  const version = versionOf(root);
  return placesOf(root)
    .filter((place) => place.version !== version)
    .map(({ file, line, version: other }) => `${file}:${line} says ${other}`);
}

/** Writes `version` to all places; returns the places that have to be written by hand. */
export function setVersion(root, version) {
  if (!VERSION.test(version)) {
    throw new Error(`"${version}" is no version: write three numbers up to 9999, such as 1.2.3`);
  }
  const places = placesOf(root);
  // From the end of each file on, so that earlier spans stay valid.
  for (const { file, span, byHand } of places.toReversed()) {
    if (byHand) continue;
    const text = readFileSync(join(root, file), 'utf8');
    writeFileSync(join(root, file), text.slice(0, span[0]) + version + text.slice(span[1]));
  }
  return places.filter((place) => place.byHand && place.version !== version);
}

function main([command, value, ...rest]) {
  const root = join(dirname(fileURLToPath(import.meta.url)), '../..');
  if (command === undefined) {
    stdout.write(`${versionOf(root)}\n`);
  } else if (command === 'check' && value === undefined) {
    const wrong = differences(root);
    if (wrong.length > 0) {
      stderr.write(`CMakeLists.txt says ${versionOf(root)}, but\n  ${wrong.join('\n  ')}\n` +
        `\`./dev version set ${versionOf(root)}\` mends all but CHANGELOG.md, which wants a section\n`);
      exit(1);
    }
  } else if (command === 'set' && value !== undefined && rest.length === 0) {
    for (const { file } of setVersion(root, value)) stdout.write(`${file} wants a section [${value}]\n`);
  } else {
    stderr.write('usage: version.mjs [check | set VERSION]\n');
    exit(2);
  }
}

if (argv[1] === fileURLToPath(import.meta.url)) {
  try {
    main(argv.slice(2));
  } catch (error) {
    stderr.write(`version: ${error.message}\n`);
    exit(1);
  }
}
