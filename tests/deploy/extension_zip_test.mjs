/** The extension's archive for the store. */
import assert from 'node:assert/strict';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { before, describe, test } from 'node:test';
import { versionOf } from '../../deploy/release/version.mjs';
import { otherCheckout, pack, root, temporaryFolder, unpack } from './support.mjs';

const SIZES = ['16', '32', '48', '128'];

describe('callslip-extension.zip', () => {
  let archive;
  let names;
  let folder;
  let manifest;

  before(() => {
    const packed = pack(['extension', temporaryFolder()]);
    assert.equal(packed.status, 0, packed.error);
    archive = packed.path;
    ({ folder, names } = unpack(archive));
    manifest = JSON.parse(readFileSync(join(folder, 'manifest.json'), 'utf8'));
  });

  test('is named after its version', () => {
    assert.ok(archive.endsWith(`/callslip-extension-${versionOf(root)}.zip`), archive);
    assert.equal(manifest.version, versionOf(root));
  });

  test('has the manifest of the extension folder without its key', () => {
    const { key, ...rest } = JSON.parse(readFileSync(join(root, 'extension/manifest.json'), 'utf8'));
    assert.ok(key, 'without it the folder would have another id everywhere');
    assert.deepEqual(manifest, rest);
  });

  for (const size of SIZES) {
    test(`has an icon of ${size} pixels`, () => {
      const png = readFileSync(join(folder, manifest.icons[size]));
      assert.equal(png.toString('latin1', 1, 4), 'PNG');
      assert.deepEqual([png.readUInt32BE(16), png.readUInt32BE(20)], [Number(size), Number(size)]);
    });
  }

  test('has all files that the manifest and its pages name', () => {
    const pages = [manifest.action.default_popup, manifest.options_ui.page];
    const named = [
      manifest.background.service_worker, ...Object.values(manifest.action.default_icon), ...pages,
      ...pages.flatMap((page) => [...readFileSync(join(folder, page), 'utf8')
        .matchAll(/(?:src|href)="([^":#]+)"/g)].map(([, file]) => file)),
    ];
    assert.ok(named.length > 6, named.join());
    assert.deepEqual(named.filter((file) => !existsSync(join(folder, file))), []);
  });

  test('has all modules that its modules import', () => {
    const modules = names.filter((name) => name.endsWith('.js'));
    const missing = modules.flatMap((name) =>
      [...readFileSync(join(folder, name), 'utf8').matchAll(/^(?:import|export) .*from '(\.[^']+)'/gm)]
        .map(([, file]) => join(name, '..', file)))
      .filter((file) => !names.includes(file));
    assert.ok(modules.length > 50, `${modules.length}`);
    assert.deepEqual(missing, []);
  });

  test('has no files for developers, and is sorted by name', () => {
    assert.deepEqual(names.filter((name) => !/\.(js|html|css|png|json)$/.test(name)), []);
    assert.deepEqual(names.filter((name) => name.endsWith('.json')), ['manifest.json']);
    assert.deepEqual(names, names.toSorted());
  });

  test('is byte-identical for another checkout, time zone and locale', () => {
    const source = otherCheckout(['deploy/release', 'extension', 'CMakeLists.txt']);
    const again = pack(['extension', temporaryFolder()], {
      source, environment: { TZ: 'Asia/Tokyo', LC_ALL: 'C.UTF-8' },
    });
    assert.equal(again.status, 0, again.error);
    assert.ok(readFileSync(again.path).equals(readFileSync(archive)));
  });

  test('differs once a file has changed', () => {
    const source = otherCheckout(['deploy/release', 'extension', 'CMakeLists.txt']);
    writeFileSync(join(source, 'extension/pages.css'), 'body { color: red }');
    const other = pack(['extension', temporaryFolder()], { source });
    assert.ok(!readFileSync(other.path).equals(readFileSync(archive)));
  });

  test('is not made without a valid date', () => {
    const source = otherCheckout(['deploy/release', 'extension', 'CMakeLists.txt']);
    for (const SOURCE_DATE_EPOCH of ['', 'yesterday']) {
      const { status, error } = pack(['extension', temporaryFolder()], {
        source, environment: { SOURCE_DATE_EPOCH },
      });
      assert.equal(status, 1);
      assert.match(error, /set SOURCE_DATE_EPOCH to the seconds/);
    }
  });
});
