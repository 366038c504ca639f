/** Lost and refused connections: when a fetch is sent again, when it is not sent, and when it is aborted. */
import type { ServerResponse } from 'node:http';
import { type AddressInfo, createServer } from 'node:net';
import { afterEach, describe, expect, it } from '@jest/globals';
import { until } from '@trestle/http-client/raw-server';
import { HTTP1_CLIENTS, UpstreamFixture, createContext, failure } from './test-upstream.ts';

describe.each(HTTP1_CLIENTS)('a fetch from a subgraph by the client %s', (client) => {
  const fixture = new UpstreamFixture(client);
  afterEach(() => fixture.close());

  it('fails with UPSTREAM_ERROR when the connection is refused', async () => {
    expect(await failure(fixture.open('http://127.0.0.1:9/graphql').fetch('{}'))).toMatchObject({ code: 'UPSTREAM_ERROR' });
  });

  it('is retried once after a lost connection, unless it is a mutation or the response has begun', async () => {
    let calls = 0;
    const url = await fixture.listen((request, response) => {
      calls++;
      if (calls === 1) request.socket.destroy();
      else response.end('{"data":{"a":1}}');
    });
    expect(await fixture.open(url).fetch('{}')).toEqual({ data: { a: 1 } });
    expect(calls).toBe(2);
    calls = 0;
    expect(await failure(fixture.open(url).fetch('{}', createContext(), true))).toMatchObject({ code: 'UPSTREAM_ERROR' });
    expect(calls).toBe(1);
    let cut = 0;
    const cutting = await fixture.listen((request, response) => {
      cut++;
      response.write('{"data":', () => request.socket.destroy());
    });
    expect(await failure(fixture.open(cutting).fetch('{}'))).toMatchObject({ code: 'UPSTREAM_ERROR' });
    expect(cut).toBe(1);
  });

  // A server closes a connection that was idle for too long, and a request crosses that on its way.
  it('is sent again over a new connection when the kept one was closed, unless it is a mutation', async () => {
    const bodies: string[] = [];
    let isStale = false;
    const url = await fixture.listenRaw((socket, body) => {
      bodies.push(body);
      if (isStale) socket.destroy();
      else socket.write('HTTP/1.1 200 OK\r\nContent-Length: 16\r\n\r\n{"data":{"a":1}}');
      isStale = !isStale;
    });
    const { fetch } = fixture.open(url);
    await fetch('"first"');
    expect(await fetch('"query"')).toEqual({ data: { a: 1 } });
    expect(await failure(fetch('"mutation"', createContext(), true))).toMatchObject({ code: 'UPSTREAM_ERROR' });
    expect(bodies).toEqual(['"first"', '"query"', '"query"', '"mutation"']);
  });

  it('is not sent again when a byte of the response has arrived', async () => {
    let calls = 0;
    const url = await fixture.listenRaw((socket) => {
      calls++;
      socket.write('H', () => setImmediate(() => socket.destroy()));
    });
    expect(await failure(fixture.open(url).fetch('{}'))).toMatchObject({ code: 'UPSTREAM_ERROR' });
    // The parser of undici reports that byte as if nothing had arrived.
    expect(calls).toBe(client === 'lean' ? 1 : 2);
  });

  it('is sent again when the connection was refused, also a mutation', async () => {
    const server = createServer();
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const { port } = server.address() as AddressInfo;
    await new Promise((resolve) => server.close(resolve));
    const fetched = fixture.open(`http://127.0.0.1:${String(port)}/graphql`).fetch('{}', createContext(), true);
    await fixture.listen((_, response) => response.end('{"data":{"a":1}}'), port);
    expect(await fetched).toEqual({ data: { a: 1 } });
  });

  it('is not sent while the circuit breaker is open', async () => {
    let calls = 0;
    const url = await fixture.listen((request) => {
      calls++;
      request.socket.destroy();
    });
    const { fetch } = fixture.open(url);
    for (let i = 0; i < 40; i++) await failure(fetch('{}'));
    expect(calls).toBeLessThan(30);
  });

  it('is aborted when the client disconnects, unless it is a mutation', async () => {
    let closed = 0;
    let arrived = 0;
    const responses: ServerResponse[] = [];
    const url = await fixture.listen((_, response) => {
      arrived++;
      responses.push(response);
      response.once('close', () => {
        if (!response.writableFinished) closed++;
      });
    });
    const { fetch } = fixture.open(url);
    const context = createContext();
    const query = failure(fetch('{}', context));
    const mutation = fetch('{}', context, true);
    await until(() => arrived === 2);
    context.cancellation.cancel();
    expect(await query).toMatchObject({ code: 'UPSTREAM_ERROR' });
    await until(() => closed === 1);
    for (const response of responses) response.end('{"data":{"a":1}}');
    expect(await mutation).toEqual({ data: { a: 1 } });
  });
});
