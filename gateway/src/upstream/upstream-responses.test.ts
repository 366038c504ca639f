/** Which responses of a subgraph are results, which are failures, and which arrive too late; compression. */
import { brotliCompressSync, gzipSync } from 'node:zlib';
import { afterEach, describe, expect, it } from '@jest/globals';
import { UpstreamFixture, failure } from './test-upstream.ts';
import { UPSTREAM_CLIENTS } from './traffic/traffic-settings.ts';

describe.each(UPSTREAM_CLIENTS)('a fetch from a subgraph by the client %s', (client) => {
  const fixture = new UpstreamFixture(client);
  afterEach(() => fixture.close());

  it('fails with UPSTREAM_TIMEOUT when the response begins or ends too late', async () => {
    const silent = await fixture.listen(() => undefined);
    const halting = await fixture.listen((_, response) => response.write('{"data":'));
    for (const url of [silent, halting]) {
      expect(await failure(fixture.open(url, { limits: { timeoutMs: 300 } }).fetch('{}'))).toEqual({
        message: 'The subgraph Stock did not respond in time.',
        code: 'UPSTREAM_TIMEOUT',
      });
    }
  });

  it.each([
    ['is not JSON', '<html>'],
    ['is not a GraphQL response', '{"ok":true}'],
    ['is cut off', '{"data":'],
  ])('fails with UPSTREAM_ERROR without an address when the body %s', async (_, text) => {
    const url = await fixture.listen((__, response) => response.end(text));
    expect(await failure(fixture.open(url).fetch('{}'))).toEqual({
      message: 'The request to the subgraph Stock failed.',
      code: 'UPSTREAM_ERROR',
    });
  });

  // GraphQL over HTTP §6.4: "If the data entry in the response has any value other than null", the status code is of the 2xx range.
  it.each([
    ['has data and status 500', 500, 'application/json', '{"data":{"a":1}}'],
    ['has data and is a redirect', 302, 'application/json', '{"data":{"a":1}}'],
    ['has another content type', 200, 'text/html', '{"data":{"a":1}}'],
    ['has null as data and no errors', 200, 'application/json', '{"data":null}'],
    ['has null as data and an empty list of errors', 200, 'application/json', '{"data":null,"errors":[]}'],
    ['has a list as data', 200, 'application/json', '{"data":[]}'],
    ['has errors that are no list', 200, 'application/json', '{"data":{"a":1},"errors":{"message":"x"}}'],
    ['is empty', 204, 'application/json', ''],
  ])('fails with UPSTREAM_ERROR when the response %s', async (_, status, type, text) => {
    const url = await fixture.listen((__, response) => response.writeHead(status, { 'content-type': type }).end(text));
    expect(await failure(fixture.open(url).fetch('{}'))).toMatchObject({ code: 'UPSTREAM_ERROR' });
  });

  it.each([
    ['application/graphql-response+json; charset=utf-8', 401],
    ['application/json;charset=utf-8', 500],
  ])('returns errors without data of type %s with status %i', async (type, status) => {
    const errors = [{ message: 'no', extensions: { code: 'UNAUTHORIZED' } }];
    const url = await fixture.listen((_, response) => response.writeHead(status, { 'content-type': type }).end(JSON.stringify({ errors })));
    expect(await fixture.open(url).fetch('{}')).toEqual({ errors });
  });

  it.each([
    ['gzip', gzipSync],
    ['br', brotliCompressSync],
  ])('asks for compression when that is on, and reads %s', async (encoding, compress) => {
    const seen: (string | undefined)[] = [];
    const url = await fixture.listen(({ headers: { 'accept-encoding': accepted } }, response) => {
      seen.push(accepted);
      response.setHeader('content-encoding', encoding).end(compress('{"data":{"a":"é"}}'));
    });
    expect(await fixture.open(url, { hasCompression: true }).fetch('{}')).toEqual({ data: { a: 'é' } });
    expect(await fixture.open(url).fetch('{}')).toEqual({ data: { a: 'é' } });
    expect(seen).toEqual(['br, gzip', undefined]);
  });

  it.each([
    ['is damaged', 'gzip', Buffer.from('{"data":{"a":1}}')],
    ['has an unknown encoding', 'zstd', Buffer.from('{"data":{"a":1}}')],
    ['decompresses to more than the limit', 'gzip', gzipSync(`{"data":{"a":"${'x'.repeat(33 * 1024 * 1024)}"}}`)],
  ])('fails with UPSTREAM_ERROR when the compressed body %s', async (_, encoding, body) => {
    const url = await fixture.listen((__, response) => response.setHeader('content-encoding', encoding).end(body));
    expect(await failure(fixture.open(url, { hasCompression: true }).fetch('{}'))).toMatchObject({ code: 'UPSTREAM_ERROR' });
  });
});
