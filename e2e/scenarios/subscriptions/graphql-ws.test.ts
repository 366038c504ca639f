/** `/graphql` over graphql-transport-ws, message by message. */
import { once } from 'node:events';
import { connect } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type Federation, startFederation } from '../../stack/federation/federation.ts';
import { ARRIVALS, createHarbours } from '../../stack/federation/harbours.ts';
import { type SocketClient, openSocket } from '../../stack/clients/socket-client.ts';
import { readMetric, until } from '../../stack/clients/client.ts';

const harbours = createHarbours();
const { arrivals } = harbours;
let federation: Federation;
beforeAll(async () => {
  federation = await startFederation(harbours.sources, {
    env: { CONNECTION_INIT_TIMEOUT_MS: '300', MAX_OPERATIONS_PER_SOCKET: '5', SUBGRAPH_TIMEOUT_MS: '60000' },
  });
});
afterAll(() => federation.stop());

const listening = (count: number) => until(() => Promise.resolve(arrivals.listeners === count));
const subscribe = (client: SocketClient, id: string, { query = ARRIVALS, variables }: { query?: string; variables?: object } = {}) => {
  client.send({ id, type: 'subscribe', payload: { query, variables } });
};
const ship = (n: number) => ({ id: `s${String(n)}`, name: `Ship ${String(n)}` });
const arrived = (n: number) => ({ data: { arrived: { ...ship(n), cargo: `cargo of s${String(n)}` } } });

describe('a subscription', () => {
  it('sends each event with the fields of other subgraphs', async () => {
    const client = await openSocket(federation.url);
    subscribe(client, 'a');
    await listening(1);
    arrivals.publish(ship(1));
    expect(await client.next()).toEqual({ id: 'a', type: 'next', payload: arrived(1) });
    await client.close();
    await listening(0);
  });

  it('sends events in the order of arrival, however long the fetches for each take', async () => {
    const client = await openSocket(federation.url);
    subscribe(client, 'a');
    await listening(1);
    const releases: (() => void)[] = [];
    federation.intercept = ({ subgraph }) =>
      subgraph === 'cargoes'
        ? new Promise((resolve) =>
            releases.push(() => {
              resolve(undefined);
            }),
          )
        : undefined;
    for (let n = 0; n < 10; n++) arrivals.publish(ship(n));
    // All of them are on their way at the same time, and the last one is answered first.
    await until(() => Promise.resolve(releases.length === 10));
    for (const release of releases.reverse()) release();
    for (let n = 0; n < 10; n++) expect((await client.next()).payload).toEqual(arrived(n));
    federation.intercept = undefined;
    await client.close();
  });

  it('continues after an event with errors, which have path and code', async () => {
    const client = await openSocket(federation.url);
    subscribe(client, 'a');
    await listening(1);
    arrivals.publish(new Error('storm'));
    expect((await client.next()).payload).toEqual({
      data: { arrived: null },
      errors: [
        {
          message: 'storm',
          path: ['arrived'],
          extensions: { code: 'UPSTREAM_ERROR', service: 'harbours', requestId: expect.any(String) },
        },
      ],
    });
    federation.intercept = ({ subgraph }) => (subgraph === 'cargoes' ? 'nonsense' : undefined);
    arrivals.publish(ship(1));
    expect((await client.next()).payload).toEqual({
      data: { arrived: { ...ship(1), cargo: null } },
      errors: [
        expect.objectContaining({
          path: ['arrived', 'cargo'],
          extensions: { code: 'UPSTREAM_ERROR', service: 'cargoes', requestId: expect.any(String) },
        }),
      ],
    });
    federation.intercept = undefined;
    arrivals.publish(ship(2));
    expect((await client.next()).payload).toEqual(arrived(2));
    await client.close();
  });

  it('is completed by the client, and then at its subgraph', async () => {
    const client = await openSocket(federation.url);
    subscribe(client, 'a');
    await listening(1);
    client.send({ id: 'a', type: 'complete' });
    await listening(0);
    // The id is free again.
    subscribe(client, 'a');
    await listening(1);
    arrivals.publish(ship(3));
    expect((await client.next()).payload).toEqual(arrived(3));
    await client.close();
  });

  it('has the fetches for its events cancelled when the client completes it', async () => {
    const client = await openSocket(federation.url);
    subscribe(client, 'a');
    await listening(1);
    let fetching = 0;
    federation.intercept = (_, { socket }) => {
      fetching++;
      socket.once('close', () => fetching--);
      return new Promise(() => undefined);
    };
    for (const n of [1, 2]) arrivals.publish(ship(n));
    await until(() => Promise.resolve(fetching === 2));
    client.send({ id: 'a', type: 'complete' });
    await until(() => Promise.resolve(fetching === 0));
    federation.intercept = undefined;
    await client.close();
  });

  it('supports variables, aliases and fragments', async () => {
    const client = await openSocket(federation.url);
    const query =
      'subscription ($h: ID, $no: Boolean!) { ship: arrived(harbour: $h) { ...S cargo @skip(if: $no) } } fragment S on Ship { label: name }';
    subscribe(client, 'a', { query, variables: { h: 'HAM', no: true } });
    await listening(1);
    expect(federation.received.at(-1)?.variables).toEqual({ h: 'HAM' });
    arrivals.publish(ship(4));
    expect((await client.next()).payload).toEqual({ data: { ship: { label: 'Ship 4' } } });
    await client.close();
  });
});

describe('an operation that cannot be executed', () => {
  it.each([
    ['has two root fields', 'subscription { arrived { id } seen { id } }'],
    ['hides its root field behind a condition', 'subscription ($on: Boolean!) { arrived @include(if: $on) { id } }'],
    ['leaves out its root field by @skip', 'subscription { arrived @skip(if: true) { id } }'],
    ['leaves out its root field by a fragment with @include', 'subscription { ... @include(if: false) { arrived { id } } }'],
    ['asks for @defer', 'subscription { arrived { id ... @defer { cargo } } }'],
    ['is not well-formed', 'subscription {'],
    ['asks for what there is not', 'subscription { sunk { id } }'],
    ['asks for introspection at its root', 'subscription { __typename }'],
  ])('gets an error message and does not affect other operations when it %s', async (_, query) => {
    const client = await openSocket(federation.url);
    subscribe(client, 'good');
    await listening(1);
    subscribe(client, 'bad', { query, ...(query.includes('$on') && { variables: { on: true } }) });
    const answer = await client.next();
    expect(answer).toEqual({
      id: 'bad',
      type: 'error',
      payload: expect.arrayContaining([expect.objectContaining({ message: expect.any(String) })]),
    });
    for (const { extensions } of answer.payload as { extensions: object }[])
      expect(extensions).toEqual({ code: 'VALIDATION_ERROR', requestId: expect.any(String) });
    expect(await readMetric(federation.gateway.url, 'trestle_subscription_response_streams')).toBe(1);
    arrivals.publish(ship(1));
    expect(await client.next()).toEqual({ id: 'good', type: 'next', payload: arrived(1) });
    await client.close();
    await listening(0);
  });

  it('gets the error with which its subgraph rejects it', async () => {
    const client = await openSocket(federation.url);
    subscribe(client, 'a', { query: 'subscription { whispered { id } }' });
    expect(await client.next()).toMatchObject({
      id: 'a',
      type: 'error',
      payload: [{ extensions: { code: 'UPSTREAM_ERROR', service: 'harbours' } }],
    });
    await client.close();
  });

  it('gets an error when the socket has the largest number of operations', async () => {
    const client = await openSocket(federation.url);
    for (let n = 0; n < 6; n++) subscribe(client, String(n));
    const answer = await client.next();
    expect(answer).toMatchObject({ id: '5', type: 'error', payload: [{ extensions: { code: 'RATE_LIMIT_EXCEEDED' } }] });
    expect(JSON.stringify(answer)).toContain('5 operations');
    await client.close();
  });
});

describe('a query or a mutation', () => {
  it('gets one `next`, then `complete`', async () => {
    const client = await openSocket(federation.url);
    client.send({ id: 'q', type: 'subscribe', payload: { query: '{ cargo ships { id } }' } });
    expect(await client.next()).toEqual({ id: 'q', type: 'next', payload: { data: { cargo: 'grain', ships: [] } } });
    expect(await client.next()).toEqual({ id: 'q', type: 'complete' });
    await client.close();
  });

  it('gets an error when it is invalid', async () => {
    const client = await openSocket(federation.url);
    client.send({ id: 'q', type: 'subscribe', payload: { query: '{ nothing }' } });
    expect(await client.next()).toMatchObject({ id: 'q', type: 'error', payload: [{ extensions: { code: 'VALIDATION_ERROR' } }] });
    await client.close();
  });
});

describe('graphql-transport-ws', () => {
  it('answers a ping with its payload', async () => {
    const client = await openSocket(federation.url);
    client.send({ type: 'ping', payload: { at: 1 } });
    expect(await client.next()).toEqual({ type: 'pong', payload: { at: 1 } });
    client.send({ type: 'ping' });
    expect(await client.next()).toEqual({ type: 'pong' });
    client.send({ type: 'pong' });
    await client.close();
  });

  it.each([
    ['4400', 'what is no JSON', ['{']],
    ['4400', 'a message of no type', [{ id: '1' }]],
    ['4400', 'a message of an unknown type', [{ type: 'start' }]],
    ['4400', 'a subscribe without a query', [{ type: 'connection_init' }, { id: '1', type: 'subscribe', payload: {} }]],
    ['4400', 'an id without end', [{ type: 'connection_init' }, { id: 'x'.repeat(1000), type: 'subscribe', payload: { query: ARRIVALS } }]],
    ['4401', 'a subscribe before its time', [{ id: '1', type: 'subscribe', payload: { query: ARRIVALS } }]],
    ['4429', 'two introductions', [{ type: 'connection_init' }, { type: 'connection_init' }]],
    [
      '4409',
      'an id that is taken',
      [
        { type: 'connection_init' },
        { id: '1', type: 'subscribe', payload: { query: ARRIVALS } },
        { id: '1', type: 'subscribe', payload: { query: ARRIVALS } },
      ],
    ],
    ['4408', 'no introduction at all', []],
  ])('closes with %s for %s', async (code, _, messages) => {
    const client = await openSocket(federation.url, { init: null });
    for (const message of messages) client.send(message);
    expect((await client.closed).code).toBe(Number(code));
    await listening(0);
  });

  it.each(['', 'Sec-WebSocket-Protocol: graphql-ws\r\n', 'Sec-WebSocket-Protocol: graphql-transport-ws\r\n'])(
    'survives malformed frames, also from a client that is being refused (%j)',
    async (protocol) => {
      const { hostname, port } = new URL(federation.url);
      for (const frame of ['ff8000000000', '8180', '81ff7fffffffffffffff00000000', '88ff', 'c100', '00']) {
        const socket = connect(Number(port), hostname);
        socket.on('error', () => undefined);
        socket.write(
          `GET /graphql HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n${protocol}\r\n`,
        );
        await once(socket, 'data');
        socket.write(Buffer.from(frame, 'hex'));
        // What is answered after it shows that it was read.
        const client = await openSocket(federation.url);
        await client.close();
        socket.destroy();
      }
    },
  );

  it('closes with 4406 for another protocol, and with 1009 for a message that is too large', async () => {
    const other = await openSocket(federation.url, { protocol: 'graphql-ws', init: null }).catch((error: unknown) => error as Error);
    // The client of `ws` gives up a server that takes none of its protocols by itself.
    if (other instanceof Error) expect(other.message).toMatch(/subprotocol/i);
    else expect((await other.closed).code).toBe(4406);
    const client = await openSocket(federation.url);
    client.send({ id: 'a', type: 'subscribe', payload: { query: `{ cargo } # ${'x'.repeat(1_100_000)}` } });
    expect((await client.closed).code).toBe(1009);
  });

  it('is not served at another path', async () => {
    await expect(openSocket(federation.url.replace('/graphql', '/other'))).rejects.toThrow('404');
  });
});
