import { afterEach, describe, expect, it } from '@jest/globals';
import { createHiveSource } from './hive-source.ts';
import { type Respond, type TestServer, beDown, startTestServer } from './test-server.ts';

const TARGET = '/artifacts/v1/11111111-2222-4333-8444-555555555555';
const KEY = 'hv_hunter2';
const SDL = 'type Query { a: Int }';

const servers: TestServer[] = [];
afterEach(async () => {
  for (const server of servers.splice(0)) await server.stop();
});

/** Starts a server that answers as the CDN of Hive does. */
async function startCdn(artifacts: Readonly<Record<string, string>>): Promise<TestServer> {
  const respond: Respond = (response, { path, headers }) => {
    const text = artifacts[path];
    if (headers['x-hive-cdn-key'] !== KEY) response.writeHead(403).end('{"code":"INVALID_AUTH_KEY"}');
    else if (text === undefined) response.writeHead(404).end('Not found.');
    else if (headers['if-none-match'] === '"e1"') response.writeHead(304).end();
    else response.writeHead(200, { etag: '"e1"', 'content-type': 'text/plain' }).end(text);
  };
  const server = await startTestServer(respond);
  servers.push(server);
  return server;
}

const open = (endpoints: readonly string[], key = KEY) => createHiveSource({ endpoints, key, timeoutMs: 120_000, maxBytes: 100_000 });
const { signal } = new AbortController();

describe('a supergraph on the CDN of Hive', () => {
  it.each([
    ['a target', TARGET],
    ['a target, with a slash at the end', `${TARGET}/`],
    ['the artifact', `${TARGET}/supergraph`],
  ])('is read at the endpoint of %s with the key, and then by its ETag', async (_, path) => {
    const cdn = await startCdn({ [`${TARGET}/supergraph`]: SDL });
    const source = open([`${cdn.url}${path}`]);
    expect([await source.read(signal), await source.read(signal)]).toEqual([{ sdl: SDL }, { sdl: undefined }]);
    expect(source.place).toBe(`${cdn.url}${TARGET}/supergraph`);
  });

  it('of a contract is read at its endpoint', async () => {
    const cdn = await startCdn({ [`${TARGET}/contracts/public/supergraph`]: SDL });
    expect(await open([`${cdn.url}${TARGET}/contracts/public`]).read(signal)).toEqual({ sdl: SDL });
  });

  it('is read from the mirror when the CDN is down, which the reading names', async () => {
    const [cdn, mirror] = [await startCdn({}), await startCdn({ [`${TARGET}/supergraph`]: SDL })];
    cdn.respond = beDown;
    const source = open([`${cdn.url}${TARGET}`, `${mirror.url}${TARGET}`]);
    expect(await source.read(signal)).toEqual({ sdl: SDL, place: `${mirror.url}${TARGET}/supergraph` });
  });

  it.each([
    ['the key is wrong', 'hv_hunter3', '403'],
    ['nothing was published', KEY, '404'],
  ])('is not read when %s, and the key is not reported', async (_, key, status) => {
    const cdn = await startCdn({});
    const reading = open([`${cdn.url}${TARGET}`], key).read(signal);
    await expect(reading).rejects.toThrow(`responded with the status ${status}`);
    await expect(reading).rejects.not.toThrow(/hunter|INVALID_AUTH_KEY/);
  });
});
