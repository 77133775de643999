// Builds the page into web/dist: `node web/build.mjs [--out DIR] [--watch]`. The names of scripts
// and styles contain a hash of their content; each file also has a gzipped version, and
// manifest.json maps entry names to file names. Fails if the page is larger than its limits.
import {createHash} from 'node:crypto';
import {mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync} from 'node:fs';
import {dirname, join, resolve} from 'node:path';
import {fileURLToPath} from 'node:url';
import {gzipSync} from 'node:zlib';
import * as esbuild from 'esbuild';

const web = dirname(fileURLToPath(import.meta.url));
const argument = name => {
  const at = process.argv.indexOf(name);
  return at < 0 ? undefined : process.argv[at + 1];
};
const out = resolve(argument('--out') ?? join(web, 'dist'));

// Limits in gzipped bytes: of the initial scripts, of all styles, and of index.html.
const limits = {script: 100 * 1024, style: 12 * 1024, shell: 3 * 1024};

const options = {
  absWorkingDir: web,
  entryPoints: {main: 'src/main.tsx', theme: 'src/theme.ts'},
  bundle: true,
  minify: true,
  format: 'esm',
  splitting: true,
  target: 'es2022',
  jsx: 'automatic',
  jsxImportSource: 'preact',
  legalComments: 'none',
  metafile: true,
  write: false,
  outdir: join(out, 'assets'),
  entryNames: '[name]-[hash]',
  chunkNames: '[name]-[hash]',
};

function build(result) {
  rmSync(join(out, 'assets'), {recursive: true, force: true});
  mkdirSync(join(out, 'assets'), {recursive: true});
  const manifest = {};
  const sizes = {script: 0, style: 0, shell: 0};
  const put = (path, bytes) => {
    const packed = gzipSync(bytes, {level: 9});
    writeFileSync(join(out, path), bytes);
    writeFileSync(join(out, `${path}.gz`), packed);
    return packed.length;
  };
  const initial = initialScripts(result.metafile);
  for (const file of result.outputFiles) {
    const path = `assets/${file.path.slice(join(out, 'assets').length + 1)}`;
    const bytes = put(path, file.contents);
    const entry = path.replace(/^assets\/(.*)-[A-Z0-9]{8}(\.\w+)$/, '$1$2');
    if (path.endsWith('.css') || entry === 'main.js' || entry === 'theme.js') manifest[entry] = path;
    if (path.endsWith('.css')) sizes.style += bytes;
    else if (initial.has(path)) sizes.script += bytes;
  }
  const shell = readFileSync(join(web, 'index.html'), 'utf8')
    .replace(/\{\{(.+?)\}\}/g, (_, name) => {
      if (!manifest[name]) throw new Error(`index.html wants ${name}, which was not built`);
      return manifest[name];
    });
  sizes.shell = put('index.html', Buffer.from(shell));
  put('icon.svg', readFileSync(join(web, 'icon.svg')));
  put('licenses.txt', Buffer.from(licenses(result.metafile)));
  const version = createHash('sha256').update(JSON.stringify(manifest)).digest('hex').slice(0, 12);
  writeFileSync(join(out, 'manifest.json'), JSON.stringify({version, files: manifest, sizes}, null, 1));
  const told = Object.entries(sizes).map(([name, bytes]) => `${name} ${(bytes / 1024).toFixed(1)} KB`);
  console.log(`${out}: ${told.join(', ')} by gzip`);
  for (const [name, bytes] of Object.entries(sizes)) {
    if (bytes > limits[name]) throw new Error(`${name}: ${bytes} bytes by gzip, above ${limits[name]}`);
  }
}

// The name, version and full licence of each package in the bundle.
function licenses(metafile) {
  const packages = new Set(Object.keys(metafile.inputs)
    .map(path => /node_modules\/((?:@[^/]+\/)?[^/]+)\//.exec(path)?.[1]).filter(Boolean));
  return [...packages].sort().map(name => {
    const folder = join(web, 'node_modules', name);
    const {version} = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
    const file = readdirSync(folder).find(each => /^licen[cs]e/i.test(each));
    if (!file) throw new Error(`${name} has no licence beside it`);
    return `${name} ${version}\n\n${readFileSync(join(folder, file), 'utf8').trim()}\n`;
  }).join(`\n${'-'.repeat(72)}\n\n`);
}

// The entries and their static imports, without the scripts of pages that are loaded on demand.
function initialScripts(metafile) {
  const found = new Set();
  const visit = path => {
    if (found.has(path)) return;
    found.add(path);
    for (const each of metafile.outputs[path]?.imports ?? []) {
      if (each.kind === 'import-statement') visit(each.path);
    }
  };
  for (const [path, each] of Object.entries(metafile.outputs)) {
    if (/^src\/(main|theme)\./.test(each.entryPoint ?? '')) visit(path);
  }
  return new Set([...found].map(path => `assets/${path.split('/').at(-1)}`));
}

mkdirSync(out, {recursive: true});
if (process.argv.includes('--watch')) {
  const show = {name: 'show', setup: build_ => build_.onEnd(result => {
    if (result.errors.length === 0) build(result);
  })};
  const context = await esbuild.context({...options, plugins: [show]});
  await context.watch();
} else {
  build(await esbuild.build(options));
  const left = readdirSync(join(out, 'assets')).length;
  if (left === 0) throw new Error('nothing was built');
}
