import { createServer } from 'node:http';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { extname, join, normalize } from 'node:path';

const TYPES = {
  '.css': 'text/css', '.gif': 'image/gif', '.html': 'text/html; charset=utf-8', '.jpg': 'image/jpeg',
  '.js': 'text/javascript', '.png': 'image/png', '.svg': 'image/svg+xml',
};

/**
 * The player is not measured by time: an episode ends long after any player has given up, in ms.
 */
const EPISODE_MS = 600_000;

/** Begins the task of a seed when the page has loaded, without a click on START. */
const begun = (seed) => `<script>
  addEventListener('load', () => {
    Math.seedrandom(${seed});
    core.EPISODE_MAX_TIME = ${EPISODE_MS};
    core.startEpisodeReal();
  });
</script>`;

/** Serves the pages of a checkout of MiniWoB++: `{url(task, seed), close()}`. */
export async function servePages(checkout) {
  const root = join(checkout, 'miniwob/html');
  const server = createServer(async ({ url }, response) => {
    const { pathname, searchParams } = new URL(url, 'http://pages');
    const file = join(root, normalize(pathname));
    try {
      const body = await readFile(file);
      response.writeHead(200, { 'Content-Type': TYPES[extname(file)] ?? 'application/octet-stream' });
      const seed = Number(searchParams.get('seed'));
      response.end(seed > 0 ? body + begun(seed) : body);
    } catch {
      response.writeHead(404).end();
    }
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const origin = `http://127.0.0.1:${server.address().port}`;
  return {
    url: (task, seed) => `${origin}/miniwob/${task}.html?seed=${seed}`,
    close: () => server.close(),
  };
}
