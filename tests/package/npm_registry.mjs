import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';

/** A registry with only these packages: {url, stop}. */
export async function startRegistry(files) {
  const packages = new Map(files.map((file) => {
    const manifest = JSON.parse(execFileSync('tar', ['-xzOf', file, 'package/package.json']));
    return [manifest.name, { manifest, content: readFileSync(file) }];
  }));
  const server = createServer(({ url }, response) => {
    const [, name, isArchive] = url.match(/^\/([^/.]+)(\.tgz)?$/) ?? [];
    const found = packages.get(name);
    if (!found) return response.writeHead(404).end();
    const { manifest, content } = found;
    if (isArchive) return response.end(content);
    const dist = {
      tarball: `http://127.0.0.1:${server.address().port}/${name}.tgz`,
      integrity: `sha512-${createHash('sha512').update(content).digest('base64')}`,
    };
    const { version } = manifest;
    response.setHeader('Content-Type', 'application/json');
    return response.end(JSON.stringify({
      name, 'dist-tags': { latest: version }, versions: { [version]: { ...manifest, dist } },
    }));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${server.address().port}/`,
    async stop() {
      const closed = once(server, 'close');
      server.close();
      server.closeAllConnections();
      await closed;
    },
  };
}
