/**
 * Writes the registry's entry for a bundle: deploy/registry/server.json completed for a release.
 *   node deploy/release/registry_entry.mjs BUNDLE URL NAME > server.json
 * BUNDLE is the .mcpb file, URL the https folder of its download, NAME a name that the registry
 * lets its publisher use, such as io.github.somebody/callslip.
 */
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { basename } from 'node:path';
import { argv, exit, stderr, stdout } from 'node:process';
import { fileURLToPath } from 'node:url';

const TEMPLATE = new URL('../registry/server.json', import.meta.url);

/** The pattern of the registry's schema; 200 characters at most. */
const NAME = /^[a-zA-Z0-9.-]+\/[a-zA-Z0-9._-]+$/;

/** The entry for the bundle with these bytes. Throws an Error that names the wrong argument. */
export function registryEntry(template, { file, bytes, url, name }) {
  const [part] = template.packages;
  const expected = basename(part.identifier);
  if (basename(file) !== expected) throw new Error(`the bundle has to be ${expected}, not ${file}`);
  if (!/^https:\/\/[^\s?#]+[^/\s?#]$/.test(url)) {
    throw new Error(`"${url}" is no https:// address of a folder, without a / at its end`);
  }
  if (!NAME.test(name) || name.length > 200) {
    throw new Error(`"${name}" is no name for the registry: write NAMESPACE/callslip`);
  }
  return {
    ...template,
    name,
    packages: [{
      ...part,
      identifier: `${url}/${expected}`,
      fileSha256: createHash('sha256').update(bytes).digest('hex'),
    }],
  };
}

if (argv[1] === fileURLToPath(import.meta.url)) {
  const [file, url, name, ...rest] = argv.slice(2);
  if (name === undefined || rest.length > 0) {
    stderr.write('usage: registry_entry.mjs BUNDLE URL NAME\n');
    exit(2);
  }
  try {
    const template = JSON.parse(readFileSync(TEMPLATE, 'utf8'));
    const entry = registryEntry(template, { file, bytes: readFileSync(file), url, name });
    stdout.write(`${JSON.stringify(entry, null, 2)}\n`);
  } catch (error) {
    stderr.write(`registry_entry: ${error.message}\n`);
    exit(1);
  }
}
