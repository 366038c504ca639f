/** Server-sent events by graphql-sse's protocol, in both of its modes, and multipart by `subscriptionSpec=1.0`. */
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { request, until } from '../../stack/clients/client.ts';
import { openEventStream } from '../../stack/clients/event-stream.ts';
import { type Federation, startFederation } from '../../stack/federation/federation.ts';
import { ARRIVALS, createHarbours } from '../../stack/federation/harbours.ts';

const harbours = createHarbours();
const { arrivals } = harbours;
let federation: Federation;
beforeAll(async () => {
  federation = await startFederation(harbours.sources, { env: { MAX_OPERATIONS_PER_SOCKET: '3' } });
});
afterAll(() => federation.stop());

const listening = (count: number) => until(() => Promise.resolve(arrivals.listeners === count));
const ship = (n: number) => ({ id: `s${String(n)}`, name: `Ship ${String(n)}` });
const arrived = (n: number) => ({ data: { arrived: { ...ship(n), cargo: `cargo of s${String(n)}` } } });
const holds = (check: () => boolean) => until(() => Promise.resolve(check()));

describe('distinct connections mode', () => {
  it('sends each event as `next`, and ends when the client disconnects', async () => {
    const stream = await openEventStream(federation.url, { query: ARRIVALS });
    expect(stream.response.statusCode).toBe(200);
    expect(stream.response.headers).toMatchObject({ 'content-type': 'text/event-stream; charset=utf-8', 'cache-control': 'no-store' });
    await listening(1);
    for (const n of [1, 2]) arrivals.publish(ship(n));
    await holds(() => stream.events.length === 2);
    expect(stream.events).toEqual([1, 2].map((n) => ({ event: 'next', data: arrived(n) })));
    stream.close();
    await listening(0);
  });

  it('is served by GET, as an EventSource requests it', async () => {
    const stream = await openEventStream(`${federation.url}?query=${encodeURIComponent(ARRIVALS)}`, {});
    await listening(1);
    arrivals.publish(ship(3));
    await holds(() => stream.events.length === 1);
    stream.close();
    await listening(0);
  });

  it('sends the result of a query as one `next` and a `complete`', async () => {
    const stream = await openEventStream(federation.url, { query: '{ cargo }' });
    await holds(() => stream.isOver);
    expect(stream.events).toEqual([
      { event: 'next', data: { data: { cargo: 'grain' } } },
      { event: 'complete', data: undefined },
    ]);
  });

  it('sends the errors of an invalid operation as `next`, with status 200', async () => {
    const stream = await openEventStream(federation.url, { query: 'subscription { sunk }' });
    await holds(() => stream.isOver);
    expect(stream.response.statusCode).toBe(200);
    expect(stream.events).toEqual([
      {
        event: 'next',
        data: { errors: [expect.objectContaining({ extensions: { code: 'VALIDATION_ERROR', requestId: expect.any(String) } })] },
      },
      { event: 'complete', data: undefined },
    ]);
  });

  it('answers a query as JSON when the client accepts both', async () => {
    const accept = 'application/graphql-response+json, application/json, text/event-stream, multipart/mixed';
    const { status, body } = await request(federation.url, { method: 'POST', body: { query: '{ cargo }' }, headers: { accept } });
    expect([status, body]).toEqual([200, { data: { cargo: 'grain' } }]);
  });

  it('is named in the response to a subscription of a client that accepts JSON only', async () => {
    const { status, body } = await request(federation.url, { method: 'POST', body: { query: ARRIVALS } });
    expect(status).toBe(406);
    expect(body).toMatchObject({
      errors: [{ message: expect.stringContaining('text/event-stream'), extensions: { code: 'NOT_ACCEPTABLE' } }],
    });
  });
});

describe('single connection mode', () => {
  const reserve = async () => (await request(federation.url, { method: 'PUT' })).text;
  const send = (token: string, id: string, query = ARRIVALS) =>
    request(federation.url, {
      method: 'POST',
      body: { query, extensions: { operationId: id } },
      headers: { 'x-graphql-event-stream-token': token },
    });

  it('reserves a stream, opens it once, and sends several operations with their ids', async () => {
    const token = await reserve();
    const stream = await openEventStream(`${federation.url}?token=${token}`, {});
    expect((await openEventStream(`${federation.url}?token=${token}`, {})).response.statusCode).toBe(409);
    expect((await send(token, 'a')).status).toBe(202);
    expect((await send(token, 'q', '{ cargo }')).status).toBe(202);
    await listening(1);
    arrivals.publish(ship(1));
    await holds(() => stream.events.length === 3);
    expect(stream.events).toEqual([
      { event: 'next', data: { id: 'q', payload: { data: { cargo: 'grain' } } } },
      { event: 'complete', data: { id: 'q' } },
      { event: 'next', data: { id: 'a', payload: arrived(1) } },
    ]);
    expect((await send(token, 'a')).status).toBe(409);
    const end = `${federation.url}?operationId=a`;
    const headers = { 'x-graphql-event-stream-token': token };
    expect((await request(end, { method: 'DELETE', headers })).status).toBe(200);
    await listening(0);
    expect((await request(end, { method: 'DELETE', headers })).status).toBe(404);
    stream.close();
    await until(async () => (await send(token, 'b')).status === 404);
  });

  it('cancels the fetches of a query that is ended while it runs', async () => {
    const token = await reserve();
    const fetched = { isOpen: false };
    federation.intercept = (_, { socket }) => {
      fetched.isOpen = true;
      socket.once('close', () => (fetched.isOpen = false));
      return new Promise(() => undefined);
    };
    const running = send(token, 'q', '{ cargo }');
    await holds(() => fetched.isOpen);
    const headers = { 'x-graphql-event-stream-token': token };
    expect((await request(`${federation.url}?operationId=q`, { method: 'DELETE', headers })).status).toBe(200);
    await holds(() => !fetched.isOpen);
    federation.intercept = undefined;
    expect((await running).status).toBe(202);
  });

  it('accepts operations before the stream is open', async () => {
    const token = await reserve();
    expect((await send(token, 'a')).status).toBe(202);
    await listening(1);
    arrivals.publish(ship(5));
    const stream = await openEventStream(federation.url, { headers: { 'x-graphql-event-stream-token': token } });
    await holds(() => stream.events.length === 1);
    expect(stream.events).toEqual([{ event: 'next', data: { id: 'a', payload: arrived(5) } }]);
    stream.close();
    await listening(0);
  });

  it.each([
    ['an unknown token', 404, () => send('nonsense', 'a')],
    ['no operationId', 400, async () => send(await reserve(), '')],
    ['a document that is not valid', 400, async () => send(await reserve(), 'a', '{ sunk }')],
    [
      'a batch',
      400,
      async () => request(federation.url, { method: 'POST', body: [], headers: { 'x-graphql-event-stream-token': await reserve() } }),
    ],
  ])('refuses %s with %i', async (_, status, act) => {
    const answer = await act();
    expect(answer.status).toBe(status);
    expect(answer.body).toMatchObject({ errors: [{ extensions: { code: expect.any(String) } }] });
  });

  it('rejects one operation too many with 429', async () => {
    const token = await reserve();
    const stream = await openEventStream(`${federation.url}?token=${token}`, {});
    for (const id of ['a', 'b', 'c']) expect((await send(token, id)).status).toBe(202);
    const refused = await send(token, 'd');
    expect([refused.status, refused.headers.get('retry-after')]).toEqual([429, '1']);
    const extensions = { code: 'RATE_LIMIT_EXCEEDED', retryAfter: 1, limit: 3, remaining: 0, requestId: expect.any(String) };
    expect(refused.body).toMatchObject({ errors: [{ extensions }] });
    stream.close();
    await listening(0);
  });
});

describe('a multipart response', () => {
  const accept = 'multipart/mixed;boundary="graphql";subscriptionSpec=1.0,application/json';
  const partsOf = (text: string) =>
    text
      .split('\r\n--graphql')
      .slice(1)
      .filter((part) => part.startsWith('\r\n'))
      .map((part) => part.split('\r\n\r\n')[1])
      .flatMap((body) => (body ? [JSON.parse(body) as unknown] : []));

  it('has a part for each event, and heartbeats between them', async () => {
    const stream = await openEventStream(federation.url, { query: ARRIVALS, accept });
    expect(stream.response.headers['content-type']).toBe('multipart/mixed;boundary="graphql";subscriptionSpec=1.0');
    await listening(1);
    arrivals.publish(ship(1));
    await holds(() => partsOf(stream.text).length >= 2);
    expect(partsOf(stream.text)).toEqual([{ payload: arrived(1) }, {}]);
    stream.close();
    await listening(0);
  });

  it('is replaced by JSON for queries and invalid operations', async () => {
    for (const [query, status] of [
      ['{ cargo }', 200],
      ['subscription { sunk }', 200],
    ] as const) {
      const answer = await request(federation.url, { method: 'POST', body: { query }, headers: { accept } });
      expect([answer.status, answer.headers.get('content-type')]).toEqual([status, 'application/json; charset=utf-8']);
    }
  });

  it('has an error when the source stream is lost, and ends', async () => {
    const stream = await openEventStream(federation.url, { query: ARRIVALS, accept });
    await listening(1);
    await federation.halt('harbours');
    await holds(() => stream.isOver);
    expect(partsOf(stream.text)).toEqual([
      { payload: null, errors: [expect.objectContaining({ extensions: expect.objectContaining({ code: 'UPSTREAM_ERROR' }) })] },
    ]);
    expect(stream.text.endsWith('\r\n--graphql--\r\n')).toBe(true);
    await federation.revive('harbours');
  });
});
