/** Responses with a status after which a query is sent again. */
import type { ServerResponse } from 'node:http';
import { afterEach, describe, expect, it } from '@jest/globals';
import { UpstreamFixture, createContext, failure } from './test-upstream.ts';
import type { SubgraphTraffic } from './traffic/traffic-settings.ts';
import { UPSTREAM_CLIENTS } from './traffic/traffic-settings.ts';

const RETRYING: Partial<SubgraphTraffic> = { retryStatuses: [502, 503, 504], retryPercent: 100 };

describe.each(UPSTREAM_CLIENTS)('traffic.retryStatuses by the client %s', (client) => {
  const fixture = new UpstreamFixture(client);
  afterEach(() => fixture.close());

  /** Opens a subgraph that answers its requests in this way, and then with data. */
  const openFailing = async (limits: Partial<SubgraphTraffic>, ...answers: ((response: ServerResponse) => unknown)[]) => {
    const state = { calls: 0 };
    const url = await fixture.listen((request, response) => {
      request.resume().on('end', () => {
        const answer = answers[state.calls++];
        if (answer) answer(response);
        else response.setHeader('content-type', 'application/json').end('{"data":{"a":1}}');
      });
    });
    return { ...fixture.open(url, { limits }), state };
  };
  const unavailable =
    (status = 503, retryAfter?: string) =>
    (response: ServerResponse) =>
      response.writeHead(status, retryAfter === undefined ? {} : { 'retry-after': retryAfter }).end('<html>');

  it.each([502, 503, 504])('sends a query again after %i, and a mutation never', async (status) => {
    const query = await openFailing(RETRYING, unavailable(status));
    expect(await query.fetch('{}')).toEqual({ data: { a: 1 } });
    expect(await query.metrics.metrics()).toContain('trestle_subgraph_request_retries_total{subgraph="Stock"} 1\n');
    const mutation = await openFailing(RETRYING, unavailable(status));
    expect(await failure(mutation.fetch('{}', createContext(), true))).toMatchObject({ code: 'UPSTREAM_ERROR' });
    expect([query.state.calls, mutation.state.calls]).toEqual([2, 1]);
  });

  it('sends nothing again by default, nor after other statuses', async () => {
    const byDefault = await openFailing({}, unavailable());
    const other = await openFailing(RETRYING, unavailable(500));
    for (const { fetch } of [byDefault, other]) expect(await failure(fetch('{}'))).toMatchObject({ code: 'UPSTREAM_ERROR' });
    expect([byDefault.state.calls, other.state.calls]).toEqual([1, 1]);
  });

  it('sends a query again once, and not after a lost connection has been retried', async () => {
    const twice = await openFailing(RETRYING, unavailable(), unavailable());
    const lost = await openFailing(RETRYING, ({ socket }) => socket?.destroy(), unavailable());
    for (const { fetch, state } of [twice, lost]) {
      expect(await failure(fetch('{}'))).toMatchObject({ code: 'UPSTREAM_ERROR' });
      expect(state.calls).toBe(2);
    }
  });

  it('sends nothing again beyond the budget of retries', async () => {
    const answers = Array.from({ length: 40 }, () => unavailable());
    const { fetch, state } = await openFailing({ ...RETRYING, retryPercent: 1, breakerFailures: 0 }, ...answers);
    await Promise.all(Array.from({ length: 25 }, () => failure(fetch('{}'))));
    expect(state.calls).toBe(35);
    const none = await openFailing({ ...RETRYING, retryPercent: 0 }, unavailable());
    expect(await failure(none.fetch('{}'))).toMatchObject({ code: 'UPSTREAM_ERROR' });
    expect(none.state.calls).toBe(1);
  });

  it('counts each of the two responses for the circuit breaker', async () => {
    const answers = Array.from({ length: 10 }, () => unavailable());
    const { fetch, state } = await openFailing({ ...RETRYING, breakerFailures: 4, breakerOpenMs: 600_000 }, ...answers);
    for (let i = 0; i < 4; i++) expect(await failure(fetch('{}'))).toMatchObject({ code: 'UPSTREAM_ERROR' });
    expect(state.calls).toBe(4);
  });

  it('waits as long as Retry-After asks for', async () => {
    const { fetch } = await openFailing(RETRYING, unavailable(503, '1'));
    const startedAt = performance.now();
    expect(await fetch('{}')).toEqual({ data: { a: 1 } });
    expect(performance.now() - startedAt).toBeGreaterThan(990);
  });

  it.each(['garbage', '-5', '1e308', 'Thu, 01 Jan 1970 00:00:00 GMT', ''])(
    'sends a query again soon after Retry-After: %s',
    async (value) => {
      const { fetch } = await openFailing(RETRYING, unavailable(503, value));
      expect(await fetch('{}')).toEqual({ data: { a: 1 } });
    },
  );

  it.each(['3600', '9'.repeat(400), 'Fri, 31 Dec 9999 23:59:59 GMT'])(
    'fails at once for Retry-After: %s, which is beyond the time limit',
    async (value) => {
      const { fetch, state } = await openFailing(RETRYING, unavailable(503, value));
      expect(await failure(fetch('{}'))).toMatchObject({ code: 'UPSTREAM_ERROR' });
      expect(state.calls).toBe(1);
    },
  );

  it('takes no longer than the time limit for a subgraph that always answers 503, slowly', async () => {
    let calls = 0;
    const url = await fixture.listen((_, response) => {
      calls++;
      response.writeHead(503, { 'content-length': 1000, 'retry-after': '0' });
      const timer = setInterval(() => response.write('x'), 20);
      response.once('close', () => {
        clearInterval(timer);
      });
    });
    const { fetch } = fixture.open(url, { limits: { ...RETRYING, timeoutMs: 400 } });
    const startedAt = performance.now();
    expect(await failure(fetch('{}'))).toMatchObject({ code: 'UPSTREAM_TIMEOUT' });
    expect(performance.now() - startedAt).toBeLessThan(5000);
    expect(calls).toBe(1);
  });

  it('returns the errors of the second response, when both have a GraphQL body', async () => {
    const refuse = (response: ServerResponse) =>
      response.writeHead(503, { 'content-type': 'application/json' }).end('{"errors":[{"message":"busy"}]}');
    const { fetch } = await openFailing(RETRYING, refuse, refuse);
    expect(await fetch('{}')).toEqual({ errors: [{ message: 'busy' }] });
  });

  it('ends the pause when the client disconnects', async () => {
    const { fetch, metrics, state } = await openFailing(RETRYING, unavailable(503, '20'));
    const context = createContext();
    const startedAt = performance.now();
    const fetched = failure(fetch('{}', context));
    // The response has arrived when it is counted.
    while (!(await metrics.metrics()).includes('retries_total{subgraph="Stock"} 1\n')) await new Promise(setImmediate);
    context.cancellation.cancel();
    expect(await fetched).toMatchObject({ code: 'UPSTREAM_ERROR' });
    expect(performance.now() - startedAt).toBeLessThan(15_000);
    expect(state.calls).toBe(1);
  });

  it('has no headers of the response that was not the last', async () => {
    const { fetch } = await openFailing(RETRYING, (response) => response.writeHead(503, { 'idempotent-replayed': 'true' }).end());
    const context = createContext();
    await fetch('{}', context);
    expect(context.fetchLog.toHeaders(null)).not.toHaveProperty('idempotent-replayed');
  });
});
