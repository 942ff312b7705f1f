// Serves the built application with a gateway beside it: `npm start` here, or `npm run example:angular` at the root.
//
// Port 4200 for the page unless PORT says otherwise; the gateway takes a free one. The page is told where by a <meta>.
// RX_LLM_BASE_URL=http://localhost:3000/v1 takes another gateway, or a backend that relays one, such as examples/nest.
import { createReadStream, existsSync, readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { extname, join, normalize } from 'node:path';
import { fileURLToPath } from 'node:url';
import { startGateway } from 'rx-llm/gateway';

const dist = fileURLToPath(new URL('dist/browser/', import.meta.url));
const types = { '.html': 'text/html; charset=utf-8', '.js': 'text/javascript', '.css': 'text/css' };

/** The page's server and the gateway, unless there is one at `baseUrl`. */
export async function start({ port = 0, gateway: options = {}, baseUrl } = {}) {
  if (!existsSync(join(dist, 'index.html'))) throw new Error('dist/ is missing: run `npm run build` first.');
  const gateway = baseUrl ? undefined : await startGateway(options);
  const page = readFileSync(join(dist, 'index.html'), 'utf8').replace(
    /(<meta name="gateway" content=")[^"]*/,
    `$1${baseUrl ?? gateway.url}`,
  );
  const server = createServer((request, response) => {
    const path = normalize(decodeURIComponent(new URL(request.url ?? '/', 'http://page').pathname));
    const file = join(dist, path);
    if (path !== '/' && file.startsWith(dist) && existsSync(file)) {
      response.writeHead(200, { 'content-type': types[extname(file)] ?? 'application/octet-stream' });
      createReadStream(file).pipe(response);
    } else {
      response.writeHead(200, { 'content-type': types['.html'] });
      response.end(page);
    }
  });
  await new Promise((resolve, reject) => server.once('error', reject).listen(port, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${server.address().port}/`,
    gateway,
    async close() {
      server.closeAllConnections();
      await Promise.all([gateway?.close(), new Promise((resolve) => server.close(resolve))]);
    },
  };
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const { PORT = 4200, RX_LLM_BASE_URL: baseUrl } = process.env;
  const running = await start({ port: Number(PORT), baseUrl });
  const where = baseUrl ?? running.gateway.url;
  console.log(`the application: ${running.url}\nthe gateway:     ${where}\nCtrl-C ends it.`);
  for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, () => running.close().then(() => process.exit(0)));
}
