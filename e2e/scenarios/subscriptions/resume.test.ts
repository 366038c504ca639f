/** A client of the gateway that was cut off goes on where it was, at the same gateway or at another one (ADR 11). */
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { readMetric, until } from '../../stack/clients/client.ts';
import { type OpenResponse, openEventStream } from '../../stack/clients/event-stream.ts';
import { type LeasedStack, leaseStack } from '../../stack/leased-stack.ts';
import { type RunningProcess } from '../../stack/processes/process.ts';
import { type SocketClient, type SocketMessage, openSocket } from '../../stack/clients/socket-client.ts';
import type { Account } from '../../stack/stack.ts';

let stack: LeasedStack;
let ada: Account;
const open: (() => unknown)[] = [];

beforeAll(async () => {
  stack = await leaseStack();
  ada = await stack.createAccount('Ada');
});
afterEach(async () => {
  for (const close of open.splice(0)) await close();
  await until(async () => (await responseStreams()) === 0);
});
afterAll(() => stack.stop());

const QUERY = 'subscription { userCreated { id name posts { title } } }';
const responseStreams = (url = stack.gateway) => readMetric(url, 'trestle_subscription_response_streams');
let count = 0;

/** Creates an account in the database, which causes an event. */
async function make(): Promise<string> {
  const id = `usr_${String(++count).padStart(26, '0')}`;
  await stack.sql('users', 'INSERT INTO users (id, email, name) VALUES ($1, $2, $1)', [id, `${id}@example.org`]);
  return id;
}

interface Payload {
  readonly data: { readonly userCreated: { readonly id: string } } | null;
  readonly extensions?: { readonly position?: string };
}
const toPayload = ({ payload }: SocketMessage) => payload as Payload;

/** A subscriber that records the events and positions that it receives. */
class Reader {
  #received: { readonly id: string | undefined; readonly position: string }[] = [];
  #client: SocketClient | undefined;

  get ids(): string[] {
    return this.#received.flatMap(({ id }) => id ?? []);
  }

  get position(): string | undefined {
    return this.#received.at(-1)?.position;
  }

  async connect(
    gateway: string,
    { query = QUERY, after = this.position }: { query?: string; after?: string | undefined } = {},
  ): Promise<void> {
    const client = await openSocket(`${gateway}/graphql`);
    this.#client = client;
    open.push(() => client.close());
    client.send({ id: '1', type: 'subscribe', payload: { query, extensions: { resume: after === undefined ? {} : { after } } } });
    // Where it begins.
    expect((await this.#next()).data).toBeNull();
  }

  /** Reads until this many events were received in all, or until the socket is closed. */
  async read(total: number): Promise<void> {
    while (this.ids.length < total) await this.#next();
  }

  /** Forgets the last events. */
  forget(count: number): void {
    this.#received.length = Math.max(this.#received.length - count, 1);
  }

  async close(): Promise<void> {
    await this.#client?.close();
  }

  async #next(): Promise<Payload> {
    const message = toPayload((await this.#client?.next()) as SocketMessage);
    const { position } = message.extensions ?? {};
    expect(position).toEqual(expect.any(String));
    this.#received.push({ id: message.data?.userCreated.id, position: position ?? '' });
    return message;
  }
}

describe('a client that requests positions', () => {
  it('gets each event once when its gateway is killed, and shares a source stream again', async () => {
    const first = await stack.startGateway();
    const readers = Array.from({ length: 20 }, () => new Reader());
    for (const reader of readers) await reader.connect(first.url);
    expect(await responseStreams(first.url)).toBe(1);
    const written: string[] = [];
    const writing = (async () => {
      while (written.length < 250) written.push(await make());
    })();
    const reading = Promise.allSettled(readers.map((reader) => reader.read(Infinity)));
    await until(() => Promise.resolve(written.length >= 100));
    await first.end('SIGKILL');
    await reading;
    // How far each has come differs.
    readers.forEach((reader, i) => {
      reader.forget(i);
    });
    await Promise.all(readers.map((reader) => reader.connect(stack.gateway)));
    await writing;
    await Promise.all(readers.map((reader) => reader.read(written.length)));
    for (const { ids } of readers) expect(ids).toEqual(written);
    await until(async () => {
      written.push(await make());
      await Promise.all(readers.map((reader) => reader.read(written.length)));
      return (await responseStreams()) === 1;
    });
    for (const { ids } of readers) expect(ids).toEqual(written);
  }, 120_000);

  it('gets its first position immediately, also when others are subscribed already', async () => {
    const [early, late] = [new Reader(), new Reader()];
    await early.connect(stack.gateway);
    const one = await make();
    await early.read(1);
    await late.connect(stack.gateway);
    expect(late.position).toBe(early.position);
    const two = await make();
    await Promise.all([early.read(2), late.read(1)]);
    expect([early.ids, late.ids]).toEqual([[one, two], [two]]);
    expect(await responseStreams()).toBe(1);
  });

  it('gets the events after its position although others are ahead, and then shares their source stream', async () => {
    const reader = new Reader();
    await reader.connect(stack.gateway);
    const from = reader.position;
    const ids = [await make(), await make()];
    await reader.read(2);
    await reader.close();
    const again = [new Reader(), new Reader()];
    for (const each of again) {
      await each.connect(stack.gateway, { after: from });
      await each.read(2);
      expect(each.ids).toEqual(ids);
    }
    await until(async () => {
      ids.push(await make());
      await Promise.all(again.map((each) => each.read(ids.length)));
      return (await responseStreams()) === 1;
    });
    for (const each of again) expect(each.ids).toEqual(ids);
  });

  it('loses no event of others when it disconnects while it joins their source stream', async () => {
    const stay = new Reader();
    await stay.connect(stack.gateway);
    const from = stay.position;
    const ids = [await make()];
    await stay.read(1);
    for (let i = 0; i < 10; i++) {
      const guest = new Reader();
      await guest.connect(stack.gateway, { after: from });
      ids.push(await make());
      await guest.close();
      await stay.read(ids.length);
    }
    expect(stay.ids).toEqual(ids);
    await until(async () => (await responseStreams()) === 1);
  });

  it('gets positions as ids of server-sent events, and resumes by Last-Event-ID as a browser does', async () => {
    const url = `${stack.gateway}/graphql?${new URLSearchParams({ query: QUERY, extensions: '{"resume":{}}' }).toString()}`;
    const listen = async (headers?: Record<string, string>): Promise<OpenResponse> => {
      const stream = await openEventStream(url, { ...(headers && { headers }) });
      open.push(() => {
        stream.close();
      });
      return stream;
    };
    const idsIn = (stream: OpenResponse) => [...stream.text.matchAll(/^id: (.+)$/gm)].map(([, id]) => id ?? '');
    const first = await listen();
    await until(() => Promise.resolve(idsIn(first).length === 1));
    const one = await make();
    await until(() => Promise.resolve(idsIn(first).length === 2));
    const [start, last] = idsIn(first);
    expect(first.events.at(-1)?.data).toMatchObject({ data: { userCreated: { id: one } }, extensions: { position: last } });
    first.close();
    const two = await make();
    const again = await listen({ 'last-event-id': last ?? '' });
    await until(() => Promise.resolve(again.events.length === 2));
    expect(again.events[1]?.data).toMatchObject({ data: { userCreated: { id: two } } });
    const fromStart = await listen({ 'last-event-id': start ?? '' });
    await until(() => Promise.resolve(fromStart.events.length === 3));
  });
});

describe('a position', () => {
  const refused = async (query: string, resume: unknown, token?: string) => {
    const client = await openSocket(`${stack.gateway}/graphql`, { init: token === undefined ? {} : { authorization: `Bearer ${token}` } });
    client.send({ id: '1', type: 'subscribe', payload: { query, extensions: { resume } } });
    const message = await client.next(({ type }) => type !== 'ping');
    await client.close();
    return [message.type, (message.payload as { extensions: { code: string } }[])[0]?.extensions.code];
  };

  it('is rejected with VALIDATION_ERROR when it is malformed', async () => {
    for (const resume of [null, true, [], { after: 1 }, { after: '' }, { after: 'x' }, { after: 'x'.repeat(2000) }])
      expect(await refused(QUERY, resume)).toEqual(['error', 'VALIDATION_ERROR']);
  });

  it('is rejected with GONE when it is of another subgraph or no longer known', async () => {
    const reader = new Reader();
    await reader.connect(stack.gateway);
    expect(await refused('subscription { orderStatusChanged { id } }', { after: reader.position }, ada.token)).toEqual(['error', 'GONE']);
    const future = Buffer.from('["users","999999999"]').toString('base64url');
    expect(await refused(QUERY, { after: future })).toEqual(['error', 'GONE']);
  });

  it('is not sent to clients that did not request it', async () => {
    const client = await openSocket(`${stack.gateway}/graphql`);
    open.push(() => client.close());
    client.send({ id: '1', type: 'subscribe', payload: { query: QUERY } });
    // Without positions nothing shows when the subscription is active.
    const made: string[] = [];
    await until(async () => made.push(await make()) > 0 && client.waiting.length > 0);
    const { payload } = await client.next();
    const { id } = (payload as Payload).data?.userCreated ?? { id: '' };
    expect(made).toContain(id);
    expect(payload).toEqual({ data: { userCreated: { id, name: id, posts: [] } } });
  });
});

it('resumes at another gateway when the first one stops', async () => {
  const first: RunningProcess = await stack.startGateway();
  const reader = new Reader();
  await reader.connect(first.url);
  const ids = [await make()];
  await reader.read(1);
  const closing = first.end('SIGTERM');
  await reader.read(Infinity).catch(() => undefined);
  await closing;
  ids.push(await make());
  await reader.connect(stack.gateway);
  await reader.read(2);
  expect(reader.ids).toEqual(ids);
});
