/** The least that an upload costs: a bare node:http server that writes each body to a file and flushes it, as Trestle does. */
import { createWriteStream } from 'node:fs';
import { rm } from 'node:fs/promises';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';

let count = 0;
const server = createServer((request, response) => {
  const path = join(process.env.HOME_DIR, String(count++));
  pipeline(request, createWriteStream(path, { flush: true })).then(
    async () => {
      await rm(path);
      response.writeHead(201).end();
    },
    () => response.destroy(),
  );
});
server.listen(0, '127.0.0.1', () => process.send({ port: server.address().port }));
