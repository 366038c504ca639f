/** Equal queries in flight are sent once (`UPSTREAM_DEDUPLICATION=on`), against a real HTTP server that answers when the test lets it. */
import type { ServerResponse } from 'node:http';
import { afterEach, describe, expect, it } from '@jest/globals';
import { until } from '@trestle/http-client/raw-server';
import { QuerySharing } from './query-sharing.ts';
import { HTTP1_CLIENTS, UpstreamFixture, createContext, failure } from './test-upstream.ts';

const withHeader = (name: string, value: string) => {
  const context = createContext();
  return { ...context, headers: [...context.headers, name, value] };
};

describe.each(HTTP1_CLIENTS)('equal queries in flight, with the client %s', (client) => {
  const fixture = new UpstreamFixture(client);
  afterEach(() => fixture.close());

  /** Opens a subgraph that holds its responses, each with the number of its request. */
  async function openHeld() {
    const held: ServerResponse[] = [];
    const mutations: ServerResponse[] = [];
    const url = await fixture.listen((request, response) => {
      held.push(response);
      if (request.headers['idempotency-key']) mutations.push(response);
    });
    const { fetch, metrics } = fixture.open(url, { sharing: new QuerySharing() });
    const answer = (from = 0) => {
      held
        .slice(from)
        .forEach(
          (response, i) =>
            response.headersSent || response.setHeader('content-type', 'application/json').end(`{"data":{"a":${String(from + i + 1)}}}`),
        );
    };
    return { held, mutations, fetch, metrics, answer };
  }

  it('are sent once, and each gets the response, whatever the request ids and traces are', async () => {
    const { held, fetch, metrics, answer } = await openHeld();
    const fetched = [fetch('{}'), fetch('{}', withHeader('traceparent', 'x')), fetch('{}')];
    await until(() => held.length === 1);
    answer();
    expect(await Promise.all(fetched)).toEqual(Array(3).fill({ data: { a: 1 } }));
    expect(held).toHaveLength(1);
    expect(await metrics.getSingleMetricAsString('trestle_subgraph_requests_shared_total')).toContain('{subgraph="Stock"} 2');
    const later = fetch('{}');
    await until(() => held.length === 2);
    answer(1);
    expect(await later).toEqual({ data: { a: 2 } });
  });

  it('are sent each when the body or a header of the caller differs, and as mutations', async () => {
    const { held, fetch, answer } = await openHeld();
    const fetched = [
      fetch('{}'),
      fetch('{ }'),
      fetch('{}', withHeader('x-tenant', 'b')),
      ...[1, 2].map(() => fetch('{}', createContext(), true)),
    ];
    await until(() => held.length === fetched.length);
    answer();
    await Promise.all(fetched);
  });

  it('are sent again after a mutation has begun, and after it has ended', async () => {
    const { held, mutations, fetch, answer } = await openHeld();
    const before = fetch('{}');
    const mutation = fetch('"m"', createContext(), true);
    const meanwhile = fetch('{}');
    await until(() => held.length === 3);
    mutations[0]?.setHeader('content-type', 'application/json').end('{"data":{}}');
    await mutation;
    const after = fetch('{}');
    await until(() => held.length === 4);
    answer();
    const values = (await Promise.all([before, meanwhile, after])) as { data: { a: number } }[];
    expect(new Set(values.map(({ data }) => data.a)).size).toBe(3);
  });

  it('go on when one of their clients disconnects, and are aborted with the last one', async () => {
    const { held, fetch, answer } = await openHeld();
    const [first, second] = [createContext(), createContext()];
    const cancelled = failure(fetch('{}', first));
    const other = fetch('{}', second);
    await until(() => held.length === 1);
    first.cancellation.cancel();
    expect(await cancelled).toMatchObject({ code: 'UPSTREAM_ERROR' });
    answer();
    expect(await other).toEqual({ data: { a: 1 } });
    const last = createContext();
    const both = [first, last].map(() => failure(fetch('{"b":1}', last)));
    await until(() => held.length === 2);
    last.cancellation.cancel();
    await Promise.all(both);
    await until(() => held[1]?.destroyed === true);
  });

  it('fail together, which counts once for the circuit breaker', async () => {
    let requests = 0;
    const url = await fixture.listenRaw((socket, body) => {
      requests++;
      if (body === '"bad"') socket.write('HTTP/1.1 200 OK\r\nContent-Length: x\r\n\r\n');
      else socket.write('HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 16\r\n\r\n{"data":{"a":1}}');
    });
    const { fetch, metrics } = fixture.open(url, { sharing: new QuerySharing() });
    const failures = await Promise.all(Array.from({ length: 20 }, () => failure(fetch('"bad"'))));
    expect(failures.map((each) => each?.code)).toEqual(Array(20).fill('UPSTREAM_ERROR'));
    expect(requests).toBe(1);
    expect(await metrics.getSingleMetricAsString('trestle_subgraph_request_errors_total')).toMatch(/\} 1$/m);
    expect(await fetch('"good"')).toEqual({ data: { a: 1 } });
  });
});
