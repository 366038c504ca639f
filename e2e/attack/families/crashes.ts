/** Kills and stops processes under load, and compares every acknowledged write with the databases afterwards. */
import { connect } from 'node:net';
import pg from 'pg';
import { type Attack, type Field, demand, requireOwn, scaled } from '../attack.ts';
import { findListener } from '../target/process-table.ts';
import type { OwnSystem, ServiceName } from '../target/system.ts';
import { type Written, startWriters } from '../target/writers.ts';
import { pause } from '../wire/connections.ts';
import { ask, askGraphql } from '../wire/http.ts';

/** After a kill under the supervisor of `npm start`. */
const RECOVERY_GOAL_MS = 5000;
/** A busy machine takes longer: beyond this it is a fault. */
const RECOVERY_LIMIT_MS = 15_000;
const STOPPED_MS = 3000;

async function query(
  own: OwnSystem,
  subgraph: 'orders' | 'content',
  text: string,
  values: readonly unknown[] = [],
): Promise<Record<string, unknown>[]> {
  const client = new pg.Client({ connectionString: own.databaseUrl(subgraph) });
  await client.connect();
  try {
    return (await client.query<Record<string, unknown>>(text, [...values])).rows;
  } finally {
    await client.end();
  }
}

/** Stock and orders for the same product always add up to what there was. */
async function readStock(own: OwnSystem): Promise<string> {
  const [row] = await query(
    own,
    'orders',
    `SELECT sum(p.stock) + (SELECT coalesce(sum(i.qty), 0) FROM order_items i JOIN orders o ON o.id = i."orderId" WHERE o.status <> 'CANCELLED') AS total FROM products p`,
  );
  return String(row?.['total']);
}

async function compare(own: OwnSystem, { payments, posts, orders, sent }: Written): Promise<string> {
  demand(payments.size > 0 && posts.size > 0 && orders.size > 0, 'nothing was acknowledged');
  const paid = await query(own, 'orders', 'SELECT amount, count(*)::int AS count FROM payments WHERE amount = ANY($1) GROUP BY amount', [
    [...sent],
  ]);
  const counts = new Map(paid.map(({ amount, count }) => [Number(amount), Number(count)]));
  const lost = [...payments].filter((amount) => !counts.has(amount));
  demand(lost.length === 0, `${lost.length} acknowledged payments are lost`);
  const twice = [...counts.values()].filter((count) => count > 1).length;
  demand(twice === 0, `${twice} payments are there twice although their key is one`);
  const titles = await query(own, 'content', 'SELECT title, count(*)::int AS count FROM posts WHERE title = ANY($1) GROUP BY title', [
    [...posts],
  ]);
  demand(titles.length === posts.size, `${posts.size - titles.length} of ${posts.size} acknowledged posts are lost`);
  demand(
    titles.every(({ count }) => count === 1),
    'an acknowledged post is there twice',
  );
  const found = await query(own, 'orders', 'SELECT id FROM orders WHERE id = ANY($1)', [[...orders]]);
  demand(found.length === orders.size, `${orders.size - found.length} of ${orders.size} acknowledged orders are lost`);
  const [half] = await query(
    own,
    'orders',
    'SELECT count(*)::int AS count FROM orders o WHERE NOT EXISTS (SELECT FROM order_items i WHERE i."orderId" = o.id) OR NOT EXISTS (SELECT FROM invoices v WHERE v."orderId" = o.id)',
  );
  demand(half?.['count'] === 0, `${String(half?.['count'])} orders are half written`);
  return `${payments.size} payments, ${posts.size} posts, ${orders.size} orders acknowledged, all there once`;
}

/** Resolves with the milliseconds until a new process answers. */
async function waitForRecovery({ connections, addresses }: Field, target: ServiceName, old: number): Promise<number> {
  const startedAt = Date.now();
  const { host, port } = addresses[target];
  while (Date.now() - startedAt < RECOVERY_LIMIT_MS) {
    const ready = await ask(connections, { host, port }, { path: '/readyz', patienceMs: 1000 }).catch(() => undefined);
    if (ready?.status === 200 && findListener(port) !== old) return Date.now() - startedAt;
    await pause(25);
  }
  demand(false, `${target} was not back after ${RECOVERY_LIMIT_MS / 1000} s`);
}

/** `kill -9` several times in a row: no history of crashes may make the next one last longer. */
async function killUnderLoad(field: Field, target: ServiceName): Promise<string> {
  const own = requireOwn(field);
  const stock = await readStock(own);
  const writers = startWriters(field, own);
  const times: number[] = [];
  for (let n = 0; n < scaled(field, 3); n++) {
    await pause(1500);
    const pid = findListener(field.addresses[target].port);
    if (pid === undefined) break;
    process.kill(pid, 'SIGKILL');
    times.push(await waitForRecovery(field, target, pid));
  }
  await pause(1000);
  await writers.stop();
  const compared = await compare(own, writers.written);
  demand((await readStock(own)) === stock, 'stock and orders do not add up to what there was');
  const worst = Math.max(...times);
  const goal = worst > RECOVERY_GOAL_MS ? ` (goal ${RECOVERY_GOAL_MS / 1000} s missed)` : '';
  return `back after ${times.map((ms) => (ms / 1000).toFixed(1)).join(', ')} s${goal}; ${compared}; ${writers.written.failures} requests failed`;
}

async function stopUnderLoad(field: Field, target: ServiceName): Promise<string> {
  const own = requireOwn(field);
  const stock = await readStock(own);
  const writers = startWriters(field, own);
  await pause(1000);
  const pid = findListener(field.addresses[target].port);
  if (pid === undefined) throw new Error(`${target} does not listen`);
  process.kill(pid, 'SIGSTOP');
  try {
    await pause(STOPPED_MS);
  } finally {
    process.kill(pid, 'SIGCONT');
  }
  const startedAt = Date.now();
  const isBack = () =>
    askGraphql(
      field.connections,
      field.addresses.gateway,
      {
        query:
          '{productsConnection(first:1){edges{node{id}}} usersConnection(first:1){edges{node{id}}} postsConnection(first:1){edges{node{id}}}}',
      },
      { patienceMs: 2000 },
    );
  let ms = RECOVERY_LIMIT_MS;
  while (Date.now() - startedAt < RECOVERY_LIMIT_MS) {
    const reply = await isBack().catch(() => undefined);
    if (reply?.status === 200 && !reply.body.includes('"errors"')) {
      ms = Date.now() - startedAt;
      break;
    }
    await pause(25);
  }
  await pause(1000);
  await writers.stop();
  const compared = await compare(own, writers.written);
  demand((await readStock(own)) === stock, 'stock and orders do not add up to what there was');
  demand(ms < RECOVERY_LIMIT_MS, `no answer ${RECOVERY_LIMIT_MS / 1000} s after SIGCONT`);
  return `answers ${(ms / 1000).toFixed(1)} s after SIGCONT; ${compared}; ${writers.written.failures} requests failed`;
}

/** The embedded server has no port of ours in the table of services: its address is in a database's URL. */
async function killDatabase(field: Field): Promise<string> {
  const own = requireOwn(field);
  const port = Number(new URL(own.databaseUrl('orders')).port);
  const writers = startWriters(field, own);
  await pause(1500);
  const pid = findListener(port);
  if (pid === undefined) throw new Error('PostgreSQL does not listen');
  process.kill(pid, 'SIGKILL');
  const startedAt = Date.now();
  let ms = 0;
  while (ms === 0 && Date.now() - startedAt < 2 * RECOVERY_LIMIT_MS) {
    const reply = await ask(field.connections, field.addresses['rest-bridge'], { path: '/v1/products?limit=1', patienceMs: 2000 }).catch(
      () => undefined,
    );
    if (reply?.status === 200 && findListener(port) !== pid) ms = Date.now() - startedAt;
    else await pause(25);
  }
  await pause(1000);
  await writers.stop();
  demand(ms > 0, `no answer ${(2 * RECOVERY_LIMIT_MS) / 1000} s after the database was killed`);
  return `answers again after ${(ms / 1000).toFixed(1)} s; ${await compare(own, writers.written)}; ${writers.written.failures} requests failed`;
}

/** Every process at once, twice: the second time while the first recovery is under way. */
async function killAll(field: Field): Promise<string> {
  const own = requireOwn(field);
  const writers = startWriters(field, own);
  const times: number[] = [];
  await pause(1500);
  for (const wait of [400, 0]) {
    const pids = SERVICES.map((name) => findListener(field.addresses[name].port));
    for (const pid of pids) if (pid !== undefined) process.kill(pid, 'SIGKILL');
    await pause(wait);
    if (wait === 0) times.push(...(await Promise.all(SERVICES.map((name, n) => waitForRecovery(field, name, pids[n] ?? 0)))));
  }
  await pause(1000);
  await writers.stop();
  const compared = await compare(own, writers.written);
  return `all back after ${(Math.max(...times) / 1000).toFixed(1)} s; ${compared}; ${writers.written.failures} requests failed`;
}

/** The supervisor closes each connection at once and keeps nothing of what is sent there. */
async function floodSocket(field: Field): Promise<string> {
  const { supervisorSocket } = requireOwn(field);
  const count = scaled(field, 500);
  const open = () => {
    const socket = connect(supervisorSocket);
    socket.on('error', () => undefined);
    field.connections.keep(() => socket.destroy());
    socket.write(Buffer.alloc(500_000, 'x'));
  };
  for (let n = 0; n < count; n++) open();
  await pause(1000);
  return `${count} connections that send half a megabyte each`;
}

const SERVICES = ['rest-bridge', 'gateway', 'users', 'orders', 'content'] as const;
const DURABLE = 'Every acknowledged write is there once, nothing is half written, one key is one request (spec §8)';

export const CRASH_ATTACKS: readonly Attack[] = [
  ...SERVICES.map((target): Attack => ({
    name: `kill -9 of ${target} under load`,
    target,
    family: 'crashes',
    clause: `${DURABLE}; back within 5 s`,
    needs: 'own',
    restarts: [target],
    ...(target === 'orders' && { isShort: true }),
    run: (field) => killUnderLoad(field, target),
  })),
  ...SERVICES.map((target): Attack => ({
    name: `SIGSTOP of ${target} under load`,
    target,
    family: 'crashes',
    clause: DURABLE,
    needs: 'own',
    run: (field) => stopUnderLoad(field, target),
  })),
  { name: 'kill -9 of PostgreSQL under load', target: 'supervisor', family: 'crashes', clause: DURABLE, needs: 'own', run: killDatabase },
  {
    name: 'kill -9 of all processes at once, twice',
    target: 'supervisor',
    family: 'crashes',
    clause: DURABLE,
    needs: 'own',
    restarts: SERVICES,
    run: killAll,
  },
  {
    name: 'a flood of connections to the socket of the supervisor',
    target: 'supervisor',
    family: 'crashes',
    clause: 'What is sent to the socket of a data directory is not kept',
    needs: 'own',
    isShort: true,
    run: floodSocket,
  },
];
