/**
 * Writers, readers, deliveries, NATS and PostgreSQL itself are killed while events flow (ADR 24, ADR 25): what was acknowledged is stored, and what
 * is stored is delivered, once to effect. `EVENT_CRASH_ROUNDS` sets how many times each is killed.
 */
import { chmod, mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type TestNats, startTestNats } from '@trestle/chassis/events/nats/test-nats';
import { type EmbeddedPostgres, startEmbeddedPostgres } from '@trestle/postgres/embedded';
import { until } from '../../stack/clients/client.ts';
import { type Account, type Stack, type SubgraphName, startStack } from '../../stack/stack.ts';
import { type EventsClient, readEvents } from '../events/events-client.ts';
import { type Receiver, startReceiver } from '../webhooks/receiver.ts';

const ROUNDS = Number(process.env['EVENT_CRASH_ROUNDS'] ?? 1);
const WRITERS = 4;
/** Writes between two kills. */
const WRITES = 15;
/** The server is killed, not the machine: what it has written survives without fsync. */
const FLAGS = ['-c', 'fsync=off', '-c', 'max_connections=200'];

let home: string;
let server: EmbeddedPostgres;
/** Undefined where `nats-server` is not installed: subgraphs then read each other's events over HTTP. */
let nats: TestNats | undefined;
let stack: Stack;
let ada: Account;
let receiver: Receiver;
let client: EventsClient;
const acknowledged: string[] = [];
const writing = { isOver: false };
let writers: Promise<unknown>;

beforeAll(async () => {
  home = await mkdtemp(join(tmpdir(), 'trestle-crashes-'));
  // A server that a root process starts runs as another user.
  await chmod(home, 0o755);
  server = await startEmbeddedPostgres({ dataDir: join(home, 'pg'), flags: FLAGS });
  nats = await startTestNats();
  const env = { WEBHOOK_ALLOW_PRIVATE: 'on', WEBHOOK_RETRY_SECONDS: '1,1,1', ...(nats && { NATS_URL: nats.url }) };
  stack = await startStack({ adminUrl: server.url('postgres'), env });
  ada = await stack.createAccount('Ada');
  receiver = await startReceiver();
  await stack.call('POST', '/v1/webhooks', { token: ada.token, body: { name: 'Test', url: receiver.url, types: ['post.created'] } });
  client = readEvents({ url: `${stack.rest}/v1/events?type=post.created,post.updated`, token: ada.token });
  await client.opened;
  writers = Promise.all(Array.from({ length: WRITERS }, (_, writer) => write(writer)));
}, 120_000);
afterAll(async () => {
  writing.isOver = true;
  await writers;
  client.close();
  await receiver.close();
  await stack.stop();
  await nats?.stop();
  await server.stop();
  await rm(home, { recursive: true, force: true });
});

/** Creates posts, one after the other, and notes those whose creation was acknowledged. */
async function write(writer: number): Promise<void> {
  for (let i = 0; !writing.isOver; i++) {
    const body = { title: `Post ${String(i)} of ${String(writer)}` };
    const reply = await stack.call('POST', '/v1/posts', { token: ada.token, body }).catch(() => undefined);
    if (reply?.status === 201) acknowledged.push((reply.body as { id: string }).id);
    else await new Promise((resolve) => setTimeout(resolve, 20));
    const id = acknowledged.at(-1);
    if (id !== undefined)
      await stack.call('PATCH', `/v1/posts/${id}`, { token: ada.token, body: { body: String(i) } }).catch(() => undefined);
  }
}

/** Waits until writes succeed again, so that the next kill comes amid some. */
async function writeSome(): Promise<void> {
  const before = acknowledged.length;
  await until(() => Promise.resolve(acknowledged.length >= before + WRITES));
}

async function killProcess(name: SubgraphName): Promise<void> {
  await stack.kill(name);
  await stack.revive(name);
}

async function killPostgres(): Promise<void> {
  const [postmaster] = (await readFile(join(server.dataDir, 'postmaster.pid'), 'utf8')).split('\n');
  process.kill(Number(postmaster), 'SIGKILL');
  server = await startEmbeddedPostgres({ dataDir: join(home, 'pg'), flags: FLAGS, port: server.port });
}

const KILLS: Readonly<Record<string, () => Promise<void>>> = {
  'the writer': () => killProcess('content'),
  'the reader, which also sends webhooks': () => killProcess('users'),
  'both at once': async () => {
    await Promise.all([killProcess('content'), killProcess('users')]);
  },
  'NATS, which carries the events': async () => {
    await nats?.kill();
    await writeSome();
    await nats?.start();
  },
  'NATS, which loses its streams, and the writer': async () => {
    await nats?.kill();
    await nats?.lose();
    await killProcess('content');
    await nats?.start();
  },
  PostgreSQL: killPostgres,
};

describe('events while processes are killed', () => {
  it.each(Object.keys(KILLS))(
    'flow on after a kill of %s amid writes',
    async (name) => {
      for (let round = 0; round < ROUNDS; round++) {
        await writeSome();
        await KILLS[name]?.();
      }
      await writeSome();
    },
    30_000 + 20_000 * ROUNDS,
  );

  it('have all been stored, recorded once, streamed once and delivered, whatever was killed', async () => {
    writing.isOver = true;
    await writers;
    const stored = (await stack.sql<{ id: string }>('content', 'SELECT id FROM posts ORDER BY id')).map(({ id }) => id);
    // One that was not acknowledged may be stored too: its response was lost.
    expect(acknowledged.filter((id) => !stored.includes(id))).toEqual([]);
    const recorded = `SELECT subject FROM journal WHERE type = 'post.created' ORDER BY subject`;
    await until(async () => (await stack.sql('users', recorded)).length >= stored.length);
    expect((await stack.sql<{ subject: string }>('users', recorded)).map(({ subject }) => subject)).toEqual(stored);
    const changed = `SELECT subject FROM journal WHERE type IN ('post.created', 'post.updated')`;
    await until(async () => client.events.length >= (await stack.sql('users', changed)).length);
    const created = client.events.filter(({ type }) => type === 'post.created');
    expect(created.map(({ subject }) => subject).sort()).toEqual(stored);
    for (const id of stored) {
      const versions = client.events.filter(({ subject }) => subject === id).map(({ data }) => data['version']);
      expect(versions).toEqual(versions.map((_, at) => at + 1));
    }
    // The leases of killed processes end now rather than in 40 s.
    await stack.sql('users', `UPDATE webhook_deliveries SET "nextAttemptAt" = now() WHERE status = 'WAITING'`);
    const delivered = `SELECT "eventId" FROM webhook_deliveries WHERE status = 'SUCCEEDED'`;
    await until(async () => (await stack.sql('users', delivered)).length === stored.length);
    expect([...new Set(receiver.arrivals.map(({ event }) => event.subject))].sort()).toEqual(stored);
    // A delivery may arrive twice, with one id.
    expect(new Set(receiver.arrivals.map(({ id }) => id)).size).toBe(stored.length);
  });
});
