/** Which subscriber gets which event: credentials of WebSockets and streams, shared source streams, expiry of a token. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { createTestGrant } from '@trestle/identity/tokens/test-identity';
import { createTokenIssuer, generateTokenKeys } from '@trestle/identity/tokens/tokens';
import { until } from '../../stack/clients/client.ts';
import { type Federation, startFederation } from '../../stack/federation/federation.ts';
import { createHarbours } from '../../stack/federation/harbours.ts';
import { openEventStream } from '../../stack/clients/event-stream.ts';
import { type SocketClient, openSocket } from '../../stack/clients/socket-client.ts';

const harbours = createHarbours();
const { arrivals, secrets } = harbours;
const keys = generateTokenKeys();
let home: string;
let federation: Federation;
beforeAll(async () => {
  home = await mkdtemp(join(tmpdir(), 'trestle-live-identity-'));
  const file = join(home, 'public.pem');
  await writeFile(file, keys.publicKeyPem);
  federation = await startFederation(harbours.sources, {
    args: ['--auth', 'on'],
    env: { TOKEN_PUBLIC_KEY_FILE: file, FORWARD_HEADERS: 'x-tenant' },
  });
});
afterAll(async () => {
  await federation.stop();
  await rm(home, { recursive: true, force: true });
});

/** What is left of a token's life, of the 5 s included that clocks may differ by. */
const token = (id: string, leftMs = 900_000) => {
  const now = () => Date.now() - 905_000 + leftMs;
  return createTokenIssuer({ privateKeyPem: keys.privateKeyPem, now }).issue(createTestGrant({ id })).token;
};
const bearer = (id: string, leftMs?: number) => ({ authorization: `Bearer ${token(id, leftMs)}` });
const subscribe = (client: SocketClient, query: string) => {
  client.send({ id: '1', type: 'subscribe', payload: { query } });
};
const listening = (count: number) => until(() => Promise.resolve(arrivals.listeners + secrets.listeners === count));

const WHO = 'subscription { arrived { id whoAsked } }';

describe('a credential', () => {
  it.each([
    ['in connection_init', (headers: Record<string, string>) => ({ init: headers })],
    ['in connection_init as Authorization', ({ authorization }: Record<string, string>) => ({ init: { Authorization: authorization } })],
    ['in the headers', (headers: Record<string, string>) => ({ headers })],
  ])('%s is forwarded to the subgraph unchanged', async (_, place) => {
    const headers = bearer('usr_1');
    const client = await openSocket(federation.url, place(headers));
    subscribe(client, WHO);
    await listening(1);
    arrivals.publish({ id: 's1', name: 'One' });
    expect((await client.next()).payload).toEqual({ data: { arrived: { id: 's1', whoAsked: headers.authorization } } });
    await client.close();
    await listening(0);
  });

  it('is forwarded with the headers that the settings allow', async () => {
    const client = await openSocket(federation.url, { init: { ...bearer('usr_1'), 'X-Tenant': 'north', 'x-other': 'no' } });
    subscribe(client, WHO);
    await listening(1);
    expect(federation.received.at(-1)?.headers).toEqual({
      authorization: expect.stringMatching(/^Bearer /),
      'x-tenant': 'north',
      'x-request-id': expect.any(String),
    });
    await client.close();
    await listening(0);
  });

  it.each([
    ['4403', 'that is malformed', { init: { authorization: 'Bearer nonsense' } }],
    ['4403', 'that has expired', { init: bearer('usr_1', -1000) }],
    ['4403', 'of another scheme', { init: { authorization: 'Basic YTpi' } }],
    ['4403', 'that is malformed, in the headers', { headers: { authorization: 'Bearer nonsense' } }],
    ['4400', 'of two different ones', { init: bearer('usr_1'), headers: bearer('usr_2') }],
  ])(
    'closes the socket with %s when it is one %s',
    async (code, _, { init, headers }: { init?: object; headers?: Record<string, string> }) => {
      const client = await openSocket(federation.url, { init: null, ...(headers && { headers }) });
      client.send({ type: 'connection_init', payload: init });
      expect((await client.closed).code).toBe(Number(code));
    },
  );

  it('closes its socket with 4403 when it expires, and later events are sent to others only', async () => {
    const short = await openSocket(federation.url, { init: bearer('usr_1', 1500) });
    const long = await openSocket(federation.url, { init: bearer('usr_2') });
    subscribe(short, WHO);
    subscribe(long, WHO);
    await listening(2);
    arrivals.publish({ id: 's1', name: 'One' });
    expect((await short.next()).type).toBe('next');
    await long.next();
    expect(await short.closed).toEqual({ code: 4403, reason: 'Forbidden: the credential has expired or was revoked' });
    arrivals.publish({ id: 's2', name: 'Two' });
    expect((await long.next()).payload).toMatchObject({ data: { arrived: { id: 's2' } } });
    expect(short.waiting).toEqual([]);
    await long.close();
    await listening(0);
  });

  it('ends its event stream with UNAUTHORIZED when it expires', async () => {
    const stream = await openEventStream(federation.url, { query: WHO, headers: bearer('usr_1', 1500) });
    await listening(1);
    await until(async () => {
      arrivals.publish({ id: 's1', name: 'One' });
      return Promise.resolve(stream.isOver);
    });
    expect(stream.events.slice(-2)).toEqual([
      {
        event: 'next',
        data: { errors: [expect.objectContaining({ extensions: { code: 'UNAUTHORIZED', requestId: expect.any(String) } })] },
      },
      { event: 'complete', data: undefined },
    ]);
    await listening(0);
  });
});

describe('the same subscription', () => {
  it('has one source stream for several sockets of one identity, and one for each of two identities', async () => {
    const mine = bearer('usr_1');
    const clients = await Promise.all([mine, mine, mine, bearer('usr_2')].map((init) => openSocket(federation.url, { init })));
    for (const client of clients) subscribe(client, WHO);
    await listening(2);
    arrivals.publish({ id: 's1', name: 'One' });
    const askedAs = await Promise.all(clients.map(async (client) => ((await client.next()).payload as Payload).data.arrived.whoAsked));
    expect(askedAs.slice(0, 3)).toEqual([mine.authorization, mine.authorization, mine.authorization]);
    expect(askedAs[3]).not.toBe(mine.authorization);
    // One that goes takes nothing from the others.
    await clients[0]?.close();
    arrivals.publish({ id: 's2', name: 'Two' });
    expect((await clients[1]?.next())?.payload).toMatchObject({ data: { arrived: { id: 's2' } } });
    for (const client of clients) await client.close();
    await listening(0);
  });

  it('has one source stream for all callers, without a credential, when it selects public fields only', async () => {
    const clients = await Promise.all([{}, bearer('usr_1'), bearer('usr_2')].map((init) => openSocket(federation.url, { init })));
    for (const client of clients) subscribe(client, 'subscription { seen { id name } }');
    await listening(1);
    expect(federation.received.at(-1)?.headers).not.toHaveProperty('authorization');
    arrivals.publish({ id: 's1', name: 'One' });
    for (const client of clients) expect((await client.next()).payload).toEqual({ data: { seen: { id: 's1', name: 'One' } } });
    for (const client of clients) await client.close();
    await listening(0);
  });

  it('has another source stream with other variables or with a field that is not public', async () => {
    const clients = await Promise.all([bearer('usr_1'), bearer('usr_1'), {}].map((init) => openSocket(federation.url, { init })));
    const documents = ['subscription { seen { id whoAsked } }', 'subscription ($h: ID) { arrived(harbour: $h) { id } }'];
    clients[0]?.send({ id: '1', type: 'subscribe', payload: { query: documents[0] } });
    clients[1]?.send({ id: '1', type: 'subscribe', payload: { query: documents[1], variables: { h: 'a' } } });
    clients[1]?.send({ id: '2', type: 'subscribe', payload: { query: documents[1], variables: { h: 'b' } } });
    clients[2]?.send({ id: '1', type: 'subscribe', payload: { query: documents[0] } });
    await listening(4);
    for (const client of clients) await client.close();
    await listening(0);
  });

  it('is never sent to callers who may not read it', async () => {
    const mine = await openSocket(federation.url, { init: bearer('usr_1') });
    const anonymous = await openSocket(federation.url);
    subscribe(mine, 'subscription { whispered { id } }');
    await listening(1);
    subscribe(anonymous, 'subscription { whispered { id } }');
    expect((await anonymous.next()).type).toBe('error');
    secrets.publish({ id: 's9', name: 'Nine' });
    expect((await mine.next()).payload).toEqual({ data: { whispered: { id: 's9' } } });
    anonymous.send({ type: 'ping' });
    expect((await anonymous.next()).type).toBe('pong');
    await Promise.all([mine.close(), anonymous.close()]);
    await listening(0);
  });
});

interface Payload {
  readonly data: { readonly arrived: { readonly whoAsked: string | null } };
}
