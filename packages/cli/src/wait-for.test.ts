import { once } from 'node:events';
import { type Server, createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, it, jest } from '@jest/globals';
import { introspect, parseUrl, waitForSdl } from './wait-for.ts';

let server: Server;
let url: URL;
beforeAll(async () => {
  // A subgraph that serves a schema at `/graphql`, and another server at any other path.
  server = createServer((request, response) => {
    const isSubgraph = request.url?.startsWith('/graphql') === true && request.headers.authorization !== undefined;
    response.end(isSubgraph ? '{"data":{"_service":{"sdl":"type Query { old: Int }"}}}' : '{"data":null}');
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  url = new URL(`http://ada:hunter2@127.0.0.1:${String((server.address() as AddressInfo).port)}/graphql?key=hunter3`);
});
afterAll(() => {
  server.closeAllConnections();
  server.close();
});

const SECRETS = /hunter|ada/;

describe('waitForSdl', () => {
  it('sends the user and the password of the URL, and prints neither them nor its query', async () => {
    const lines: string[] = [];
    const onProgress = (line: string) => lines.push(line);
    const waiting = waitForSdl({ url: url.href, sdl: 'type Query { new: Int }', timeoutMs: 0, onProgress });
    const shown = `${url.origin}${url.pathname}`;
    await expect(waiting).rejects.toMatchObject({
      code: 'WAIT_TIMEOUT',
      message: `${shown} did not serve the schema within 0 s: 127.0.0.1 serves another schema.`,
    });
    expect(lines).toEqual([`Waiting for ${shown}: 127.0.0.1 serves another schema`]);
  });
});

describe('the time limit of waitForSdl', () => {
  it('does not depend on the clock of the machine, which may jump ahead', async () => {
    const startedAt = performance.now();
    const clock = jest.spyOn(Date, 'now');
    const onProgress = () => clock.mockReturnValue(Date.now() + 3_600_000);
    const waiting = waitForSdl({ url: url.href, sdl: 'type Query { new: Int }', timeoutMs: 3000, onProgress });
    await expect(waiting).rejects.toMatchObject({ code: 'WAIT_TIMEOUT' });
    clock.mockRestore();
    expect(performance.now() - startedAt).toBeGreaterThan(1000);
  });
});

describe('introspect', () => {
  it('names a server that is no subgraph without the user, the password and the query of its URL', async () => {
    const introspecting = introspect(new URL('/other?key=hunter3', url));
    await expect(introspecting).rejects.toMatchObject({ message: `${url.origin}/other is no subgraph: it serves no SDL.` });
  });
});

describe('parseUrl', () => {
  it.each([
    'htp://ada:hunter2@h/',
    'ada:hunter2@h',
    'htp://ada:hunter2@h?key=hunter3',
    'htp://ada:hunt//er2@h',
    'http://ada:hunter2@:bad/',
  ])('refuses what is not a URL of http or https, and does not repeat its password: case %#', (text) => {
    expect(() => parseUrl(text)).toThrow('is not a URL of http or https.');
    expect(() => parseUrl(text)).not.toThrow(SECRETS);
  });
});
