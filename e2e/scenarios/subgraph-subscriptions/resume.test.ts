/** A subscriber that was cut off goes on where it was: nothing is missed and nothing comes twice (issue 5, ADR 8). */
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { request, until } from '../../stack/clients/client.ts';
import { type LeasedStack, leaseStack } from '../../stack/leased-stack.ts';
import { type Subscriber, subscribeTo } from '../../stack/clients/subscriber.ts';
import type { RunningProcess } from '../../stack/processes/process.ts';

let stack: LeasedStack;
/** Writes go here, so that they go on while the other process is gone. */
let writer: RunningProcess;
const subscribers: Subscriber[] = [];

beforeAll(async () => {
  stack = await leaseStack();
  writer = await stack.startSubgraph('users');
});
afterEach(() => Promise.all(subscribers.splice(0).map((subscriber) => subscriber.stop())));
afterAll(() => stack.stop());

const CLIENTS = 10;

const open = (resume: unknown): Subscriber => {
  const subscriber = subscribeTo(stack.subgraphs.users.url, { query: 'subscription { userCreated { id } }', resume });
  subscribers.push(subscriber);
  return subscriber;
};
const create = async (name: string): Promise<string> => {
  const query = 'mutation ($input: CreateUserInput!) { createUser(input: $input) { id } }';
  const variables = { input: { name, email: `${name}@example.org`, password: 'long enough now' } };
  const { body } = await request(`${writer.url}/graphql`, { method: 'POST', body: { query, variables } });
  return (body as { data: { createUser: { id: string } } }).data.createUser.id;
};
const positionsOf = (subscriber: Subscriber) => subscriber.results.map(({ extensions }) => extensions?.position ?? '');
/** A position is the number of an event, and its id. */
const toNumber = (position: string) => Number(position.split('.')[0]);
const idsOf = (subscriber: Subscriber) =>
  subscriber.results.flatMap(({ data }) => (data ? [(data as { userCreated: { id: string } }).userCreated.id] : []));

describe('a resumed subscription at a subgraph', () => {
  it('loses no event when the process is killed and restarted while ten clients write', async () => {
    const parts = [open({})];
    await parts[0]?.wait(1);
    const written: string[] = [];
    const state = { isOver: false };
    const writing = Promise.all(
      Array.from({ length: CLIENTS }, async (_, client) => {
        for (let i = 0; !state.isOver; i++) written.push(await create(`writer${String(client)}-${String(i)}`));
      }),
    );
    for (let kills = 0; kills < 2; kills++) {
      const last = parts.at(-1);
      await until(() => Promise.resolve(last !== undefined && idsOf(last).length >= 20));
      await stack.kill('users');
      await last?.end();
      await stack.revive('users');
      parts.push(open({ after: parts.flatMap(positionsOf).at(-1) }));
    }
    await parts[2]?.wait(20);
    state.isOver = true;
    await writing;
    await until(() => Promise.resolve(parts.flatMap(idsOf).length >= written.length));
    expect(parts.flatMap(idsOf).toSorted()).toEqual(written.toSorted());
    for (const part of parts.slice(1)) expect(part.results[0]?.data).toBeNull();
    const positions = parts.flatMap((part) => positionsOf(part).slice(1)).map(toNumber);
    expect(positions).toEqual(positions.toSorted((a, b) => a - b));
    expect(new Set(positions).size).toBe(written.length);
  }, 120_000);

  it('continues after the database has closed the connection', async () => {
    const subscriber = open({});
    await subscriber.wait(1);
    // Of this database only: other tests have theirs on the same server.
    const cut = await stack.sql(
      'users',
      `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
     WHERE datname = current_database() AND pid <> pg_backend_pid() AND (query LIKE 'LISTEN%' OR query LIKE '%outbox%')`,
    );
    expect(cut.length).toBeGreaterThan(0);
    // The writer may have lost an idle connection too, and must find that out by trying.
    let id = '';
    await until(async () => (id = await create('after-the-cut')) !== '');
    await subscriber.wait(2);
    expect(idsOf(subscriber)).toEqual([id]);
  });

  it('sends missed events of more than a page, and then new ones', async () => {
    const first = open({});
    await first.wait(1);
    await stack.sql(
      'users',
      `INSERT INTO users (id, email, name) SELECT 'usr_many' || i, 'many' || i || '@example.org', 'Many' FROM generate_series(1, 700) i`,
    );
    const again = open({ after: positionsOf(first)[0] });
    await again.wait(701);
    const id = await create('live');
    await Promise.all([again.wait(702), first.wait(702)]);
    expect(idsOf(again)).toEqual([...Array.from({ length: 700 }, (_, i) => `usr_many${String(i + 1)}`), id]);
    expect(idsOf(first)).toEqual(idsOf(again));
  });

  it('sends no more events than `first`, missed and new ones, and completes', async () => {
    const first = open({});
    await first.wait(1);
    const ids = [await create('page-1'), await create('page-2'), await create('page-3')];
    const after = positionsOf(first)[0];
    const page = open({ after, first: 2 });
    expect(await page.end()).toEqual({});
    expect([idsOf(page), positionsOf(page).length]).toEqual([ids.slice(0, 2), 3]);
    const rest = open({ after: positionsOf(page).at(-1), first: 2 });
    await rest.wait(2);
    ids.push(await create('page-4'));
    expect(await rest.end()).toEqual({});
    expect([...idsOf(page), ...idsOf(rest)]).toEqual(ids);
  });

  it('omits an account that was deleted', async () => {
    const subscriber = open({});
    await subscriber.wait(1);
    const [gone, kept] = [await create('gone'), await create('kept')];
    await subscriber.wait(3);
    await stack.sql('users', 'DELETE FROM users WHERE id = $1', [gone]);
    const again = open({ after: positionsOf(subscriber)[0] });
    await again.wait(2);
    expect(idsOf(again)).toEqual([kept]);
  });

  it('answers GONE for a position that is unknown, and VALIDATION_ERROR for an invalid one', async () => {
    await create('last');
    await stack.sql('users', 'UPDATE outbox_removed SET position = (SELECT max(position) - 1 FROM outbox)');
    const [row] = await stack.sql<{ max: string }>('users', 'SELECT max(position) FROM outbox');
    const newest = Number(row?.max);
    expect(await open({ after: String(newest - 2) }).end()).toEqual({ codes: ['GONE'] });
    expect(await open({ after: String(newest + 1) }).end()).toEqual({ codes: ['GONE'] });
    for (const resume of [
      { after: 'x' },
      { after: 1 },
      { after: '-1' },
      { after: '01' },
      { after: '1.evt_1' },
      { after: '9'.repeat(20) },
      { first: 0 },
      { first: '2' },
      { first: 1.5 },
      true,
      null,
    ])
      expect(await open(resume).end()).toEqual({ codes: ['VALIDATION_ERROR'] });
    const last = open({ after: String(newest - 1) });
    await last.wait(2);
    expect(positionsOf(last).map(toNumber)).toEqual([newest - 1, newest]);
    expect(await open({ after: String(newest) }).wait(1)).toEqual([{ data: null, extensions: { position: String(newest) } }]);
  });
});
