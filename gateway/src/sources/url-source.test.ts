import type { OutgoingHttpHeaders } from 'node:http';
import { brotliCompressSync, gzipSync } from 'node:zlib';
import { afterEach, describe, expect, it } from '@jest/globals';
import type { SupergraphSource } from './source.ts';
import { type Respond, type TestServer, beDown, serveText, startTestServer } from './test-server.ts';
import { type UrlSourceOptions, createUrlSource } from './url-source.ts';

/** So long that no busy machine reaches it. */
const PATIENT_MS = 120_000;
const SDL = 'type Query { a: Int }';

const servers: TestServer[] = [];
afterEach(async () => {
  for (const server of servers.splice(0)) await server.stop();
});

async function serve(respond: Respond): Promise<TestServer> {
  const server = await startTestServer(respond);
  servers.push(server);
  return server;
}

const open = (options: Pick<UrlSourceOptions, 'urls'> & Partial<UrlSourceOptions>) =>
  createUrlSource({ headers: {}, timeoutMs: PATIENT_MS, maxBytes: 1_000_000, ...options });
const read = (source: SupergraphSource) => source.read(new AbortController().signal);
/** Returns why the source cannot be read when its server answers like this. */
async function failureOf(respond: Respond, options: Partial<UrlSourceOptions> = {}): Promise<string> {
  const { url } = await serve(respond);
  const failure = await read(open({ urls: [`${url}/s`], ...options })).then(
    () => 'read',
    (error: unknown) => `${(error as Error).name}: ${(error as Error).message}`,
  );
  return failure.replace(url, '');
}

/** Answers with a part of the supergraph, and closes the connection. */
function cutOff(headers: OutgoingHttpHeaders): Respond {
  return (response) => response.writeHead(200, headers).write(SDL, () => response.destroy());
}

describe('a supergraph at a URL', () => {
  it('is read with the configured headers', async () => {
    const server = await serve(serveText(SDL));
    expect(await read(open({ urls: [`${server.url}/s?v=1`], headers: { authorization: 'Bearer t' } }))).toEqual({ sdl: SDL });
    expect(server.received).toMatchObject([{ method: 'GET', path: '/s?v=1', headers: { authorization: 'Bearer t' } }]);
  });

  it('is not sent again while its ETag is the same', async () => {
    const server = await serve(serveText(SDL, 'W/"1"'));
    const source = open({ urls: [server.url] });
    expect([await read(source), await read(source)]).toEqual([{ sdl: SDL }, { sdl: undefined }]);
    server.respond = serveText('changed', '"2"');
    expect([await read(source), await read(source)]).toEqual([{ sdl: 'changed' }, { sdl: undefined }]);
    expect(server.received.map(({ headers }) => headers['if-none-match'])).toEqual([undefined, 'W/"1"', 'W/"1"', '"2"']);
  });

  it('is unchanged after a 304 without an ETag', async () => {
    const server = await serve(serveText(SDL, '"1"'));
    const source = open({ urls: [server.url] });
    await read(source);
    server.respond = (response) => response.writeHead(304).end();
    expect([await read(source), await read(source)]).toEqual([{ sdl: undefined }, { sdl: undefined }]);
    expect(server.received.at(-1)?.headers['if-none-match']).toBe('"1"');
  });

  it('is read without a condition when it has no ETag, or one that cannot be sent back', async () => {
    const server = await serve(serveText(SDL, 'a b'));
    const source = open({ urls: [server.url] });
    expect([await read(source), await read(source)]).toEqual([{ sdl: SDL }, { sdl: SDL }]);
    expect(server.received.at(-1)?.headers).not.toHaveProperty('if-none-match');
  });

  it.each([
    ['gzip', gzipSync(SDL)],
    ['br', brotliCompressSync(SDL)],
  ])('may be compressed with %s', async (encoding, bytes) => {
    const { url } = await serve((response) => response.setHeader('content-encoding', encoding).end(bytes));
    expect(await read(open({ urls: [url] }))).toEqual({ sdl: SDL });
  });

  it('is read with the user and password of the URL, which messages do not have', async () => {
    const server = await serve((response) => response.writeHead(403).end());
    const url = server.url.replace('//', '//user:hunter2@');
    const source = open({ urls: [`${url}/s?key=hunter2`] });
    await expect(read(source)).rejects.toThrow(`${server.url}/s: responded with the status 403`);
    expect(source.place).toBe(`${server.url}/s`);
    expect(server.received[0]?.headers.authorization).toBe(`Basic ${Buffer.from('user:hunter2').toString('base64')}`);
  });

  it('is read from the next address when one fails, without the ETag of another', async () => {
    const main = await serve(serveText(SDL, '"1"'));
    const mirror = await serve(serveText(SDL, '"m"'));
    const source = open({ urls: [main.url, mirror.url] });
    await read(source);
    main.respond = beDown;
    const place = `${mirror.url}/`;
    expect([await read(source), await read(source)]).toEqual([
      { sdl: SDL, place },
      { sdl: undefined, place },
    ]);
    expect(mirror.received.map(({ headers }) => headers['if-none-match'])).toEqual([undefined, '"m"']);
    mirror.respond = beDown;
    await expect(read(source)).rejects.toThrow(new RegExp(`^${main.url}/: failed \\(\\w+\\); ${mirror.url}/: failed \\(\\w+\\)$`));
  });
});

describe('a redirect of a source', () => {
  const to = (location: string) => (response: Parameters<Respond>[0]) => response.writeHead(302, { location }).end('ignored');

  it('is followed on the same origin with the headers', async () => {
    const server = await serve((response, request) => {
      if (request.path === '/a') to('/b')(response);
      else serveText(SDL)(response, request);
    });
    expect(await read(open({ urls: [`${server.url}/a`], headers: { 'x-key': 'k' } }))).toEqual({ sdl: SDL });
    expect(server.received.map(({ path, headers }) => [path, headers['x-key']])).toEqual([
      ['/a', 'k'],
      ['/b', 'k'],
    ]);
  });

  it('is followed to another origin without the headers and the password, with the ETag', async () => {
    const storage = await serve(serveText(SDL, '"1"'));
    const server = await serve(to(`${storage.url}/signed`));
    const url = server.url.replace('//', '//user:hunter2@');
    const source = open({ urls: [url], headers: { 'x-hive-cdn-key': 'k' } });
    expect([await read(source), await read(source)]).toEqual([{ sdl: SDL }, { sdl: undefined }]);
    for (const { headers } of storage.received)
      for (const name of ['x-hive-cdn-key', 'authorization']) expect(headers).not.toHaveProperty(name);
  });

  it('is followed three times', async () => {
    const server = await serve((response, request) => {
      if (request.path === '/3') serveText(SDL)(response, request);
      else to(`/${String(Number(request.path.slice(1)) + 1)}`)(response);
    });
    expect(await read(open({ urls: [`${server.url}/0`] }))).toEqual({ sdl: SDL });
    await expect(read(open({ urls: [`${server.url}/4`] }))).rejects.toThrow('redirected more than 3 times');
    expect(server.received.map(({ path }) => path)).toEqual(['/0', '/1', '/2', '/3', '/4', '/5', '/6', '/7']);
  });

  it.each([
    ['to itself, again and again', '/s', 'redirected more than 3 times'],
    ['to another protocol', 'ftp://example.com/', 'redirected to ftp:, which is not secure'],
    ['to what is no address', 'http://[', 'redirected without a valid Location'],
  ])('%s is refused', async (_, location, reason) => {
    expect(await failureOf(to(location))).toBe(`SourceError: /s: ${reason}`);
  });
});

describe('a source that fails', () => {
  it.each<[string, string, Respond]>([
    ['responds with 500', 'responded with the status 500', (response) => response.writeHead(500).end('hunter2')],
    ['responds with 206', 'responded with the status 206', (response) => response.writeHead(206).end('hunter2')],
    ['responds with 304 at first', 'responded with 304 to a request without a condition', (response) => response.writeHead(304).end()],
    ['responds with an empty body', 'responded with an empty body', (response) => response.end(' \n')],
    ['responds with what is not UTF-8', 'responded with what is not UTF-8', (response) => response.end(Buffer.from([0x61, 0xff]))],
    [
      'marks the end of a body by closing the connection',
      'responded without Content-Length',
      ({ socket }) => socket?.end(`HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n${SDL}`),
    ],
    [
      'cuts off compressed content',
      'responded with damaged content',
      (response) => response.setHeader('content-encoding', 'gzip').end(gzipSync(SDL).subarray(0, -8)),
    ],
    [
      'has an unknown encoding',
      'responded with an unknown Content-Encoding',
      (response) => response.setHeader('content-encoding', 'zip').end(SDL),
    ],
  ])('and %s is reported without its content', async (_, reason, respond) => {
    expect(await failureOf(respond)).toBe(`SourceError: /s: ${reason}`);
  });

  it.each<[string, Respond]>([
    ['closes the connection before the end of a body with a length', cutOff({ 'content-length': 100 })],
    ['closes the connection before the last chunk', cutOff({})],
    ['closes the connection without a response', beDown],
    ['does not speak HTTP', ({ socket }) => socket?.end('hunter2\r\n\r\n')],
  ])('and %s is reported by a code', async (_, respond) => {
    expect(await failureOf(respond)).toMatch(/^SourceError: \/s: failed \(\w+\)$/);
  });

  it('with an endless body is cut off at the limit', async () => {
    const reason = await failureOf(
      (response) => {
        const more = () => {
          while (!response.destroyed && response.write('#'.repeat(1000)));
        };
        response.on('drain', more);
        more();
      },
      { maxBytes: 10_000 },
    );
    expect(reason).toBe('SourceError: /s: responded with more than 10000 bytes');
  });

  it('with one byte too many is refused', async () => {
    const { url } = await serve(serveText(SDL));
    expect(await read(open({ urls: [url], maxBytes: SDL.length }))).toEqual({ sdl: SDL });
    await expect(read(open({ urls: [url], maxBytes: SDL.length - 1 }))).rejects.toThrow(`more than ${String(SDL.length - 1)} bytes`);
  });

  it('with content that decompresses to more than the limit is refused', async () => {
    const bomb = gzipSync(Buffer.alloc(10_000_000));
    const respond: Respond = (response) => response.setHeader('content-encoding', 'gzip').end(bomb);
    expect(await failureOf(respond, { maxBytes: 100_000 })).toBe('SourceError: /s: responded with more than 100000 bytes');
  });

  it.each<[string, Respond]>([
    ['does not respond', () => undefined],
    [
      'sends one byte after the other',
      (response) => {
        const timer = setInterval(() => response.write('#'), 10);
        response.on('close', () => {
          clearInterval(timer);
        });
      },
    ],
  ])('and %s is given up after the time limit', async (_, respond) => {
    expect(await failureOf(respond, { timeoutMs: 300 })).toBe('SourceError: /s: did not respond completely within 300 ms');
  });

  it('and names a time in Retry-After is not asked before', async () => {
    const { url } = await serve((response) => response.writeHead(503, { 'retry-after': '7' }).end());
    await expect(read(open({ urls: [url] }))).rejects.toMatchObject({ minDelayMs: 7000 });
    const other = await serve((response) => response.writeHead(503, { 'retry-after': '1e300' }).end());
    await expect(read(open({ urls: [other.url] }))).rejects.toMatchObject({ minDelayMs: 3_600_000 });
  });

  it('keeps the ETag of the last whole response', async () => {
    const server = await serve(serveText(SDL, '"1"'));
    const source = open({ urls: [server.url] });
    await read(source);
    server.respond = cutOff({ etag: '"2"', 'content-length': 100 });
    await expect(read(source)).rejects.toThrow('failed');
    server.respond = serveText(SDL, '"1"');
    expect(await read(source)).toEqual({ sdl: undefined });
  });

  it('is not waited for after a stop', async () => {
    const stopping = new AbortController();
    const server = await serve(() => {
      stopping.abort();
    });
    await expect(open({ urls: [server.url] }).read(stopping.signal)).rejects.toThrow('did not respond');
  });
});
