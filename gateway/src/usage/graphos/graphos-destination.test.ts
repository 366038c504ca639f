/** Sending reports to GraphOS, to a server that responds as a test says. */
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { type TestServer, beDown, startTestServer } from '../../sources/test-server.ts';
import { toGraphos } from './graphos-destination.ts';

let server: TestServer;
beforeEach(async () => {
  server = await startTestServer((response) => {
    response.end('{"tracesIgnored":true}');
  });
});
afterEach(() => server.stop());

const send = (path = '/reports') => {
  const { send: sendTo } = toGraphos({ endpoint: `${server.url}${path}`, key: 'secret', graphRef: 'g@v' });
  return sendTo({ id: '1', body: Buffer.from('report'), requests: 1, texts: [] }, new AbortController().signal);
};

describe('toGraphos', () => {
  it('sends a report with the key to the endpoint', async () => {
    expect(await send()).toEqual({ kind: 'taken', missing: [] });
    expect(server.received).toMatchObject([
      {
        ...{ method: 'POST', path: '/reports' },
        headers: {
          'x-api-key': 'secret',
          'content-encoding': 'gzip',
          'content-type': 'application/protobuf',
          'user-agent': 'trestle-gateway',
        },
      },
    ]);
  });

  it.each([
    [200, 'taken'],
    [202, 'taken'],
    [204, 'taken'],
    [400, 'refused'],
    [413, 'refused'],
    [422, 'refused'],
  ])('takes a response with the status %d as %s', async (status, kind) => {
    server.respond = (response) => {
      response.writeHead(status, status === 204 ? {} : { 'content-length': '0' }).end();
    };
    expect(await send()).toMatchObject({ kind });
  });

  it.each([401, 403, 404, 429, 500, 503])(
    'rejects after a response with the status %d, so that the report is sent again',
    async (status) => {
      server.respond = (response) => {
        response.writeHead(status, { 'content-length': '6' }).end('secret');
      };
      await expect(send()).rejects.toThrow(`responded with the status ${String(status)}`);
      await expect(send()).rejects.not.toThrow('secret');
    },
  );

  it('sends the key to no other address', async () => {
    const other = await startTestServer((response) => {
      response.end('{}');
    });
    server.respond = (response) => {
      response.writeHead(307, { location: other.url, 'content-length': '0' }).end();
    };
    await expect(send()).rejects.toThrow('redirected');
    expect(other.received).toEqual([]);
    await other.stop();
  });

  it('rejects while the endpoint is down', async () => {
    server.respond = beDown;
    await expect(send()).rejects.toThrow('/reports: ');
  });

  it('writes names of clients that are not well-formed Unicode', () => {
    const { createRecords } = toGraphos({ endpoint: server.url, key: 'secret', graphRef: 'g@v' });
    const records = createRecords({ maxBytes: 1e6, onDrop: () => undefined, onFull: () => undefined });
    const usage = records.begin({ client: { name: 'a\uD800b', version: '\u{1F680}' }, parameters: { query: '{a}', extensions: {} } });
    usage.operation = { hash: 'a', name: undefined, kind: 'query', text: '{a}', uses: ['Query.a'], schema: { id: 'x', interfaces: [] } };
    usage.end({ isError: false, isCached: false });
    expect([...records.take({ startedAt: 0, isKnown: () => false, createId: () => '1' })]).toHaveLength(1);
  });
});
