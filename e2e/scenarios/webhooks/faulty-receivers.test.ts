/** Receivers that refuse, are slow or do not answer, and a users process that is killed: which webhooks end, and what still arrives. */
import { describe, expect, it } from '@jest/globals';
import { until } from '../../stack/clients/client.ts';
import { answer } from './receiver.ts';
import { ada, admin, bob, call, create, deliveriesOf, get, happen, isDone, open, stack, useWebhooks } from './webhook-system.ts';

useWebhooks();

/** How many machines deliver, each with limits of its own. */
const MACHINES = Number(process.env['E2E_NODES'] ?? 1);

describe('a delivery', () => {
  it('that is answered 410 disables its webhook and cancels the others', async () => {
    const receiver = await open();
    receiver.behave = answer(410);
    const { path } = await create(ada, receiver.url);
    for (let i = 0; i < 3; i++) await happen();
    await until(() => isDone(path, ada, 3));
    expect(await get(path, ada)).toMatchObject({ isEnabled: false, disabledReason: 'gone' });
    expect((await call('POST', `${path}/pings`, ada)).status).toBe(422);
    receiver.behave = answer(204);
    expect((await call('PATCH', path, ada, { body: { isEnabled: true } })).body).toMatchObject({ isEnabled: true, disabledReason: null });
    await call('DELETE', path, ada);
  });

  it('that is answered 410 beside others has its attempt in the list, as they have', async () => {
    const receiver = await open();
    const held: (() => void)[] = [];
    receiver.behave = (response) => held.push(() => response.writeHead(410).end());
    const { path } = await create(ada, receiver.url);
    for (let i = 0; i < 4; i++) await happen();
    await until(() => Promise.resolve(held.length === 4));
    for (const release of held) release();
    const isLogged = async () => (await deliveriesOf(path, ada)).every(({ attempts }) => attempts.length === 1);
    await until(async () => (await isDone(path, ada, 4)) && (await isLogged()));
    expect((await deliveriesOf(path, ada)).map(({ status, attempts }) => [status, attempts[0]?.status])).toEqual(
      Array.from({ length: 4 }, () => ['failed', 410]),
    );
    await call('DELETE', path, ada);
  });

  it('that fails for good after days of failures disables its webhook', async () => {
    const receiver = await open();
    receiver.behave = answer(503);
    const { path, webhook } = await create(ada, receiver.url);
    await stack.sql('users', `UPDATE webhooks SET "failingSince" = now() - interval '121 hours' WHERE id = $1`, [webhook.id]);
    await happen();
    await until(() => isDone(path, ada, 1));
    expect(await get(path, ada)).toMatchObject({ isEnabled: false, disabledReason: 'failures' });
    expect((await deliveriesOf(path, ada))[0]).toMatchObject({ status: 'failed' });
    await call('DELETE', path, ada);
  });

  it('is cancelled when its account may not learn of the event any more', async () => {
    const receiver = await open();
    receiver.behave = answer(500, { 'retry-after': '3600' });
    const moderator = await stack.createAccount('Mod', 'MODERATOR');
    const { path } = await create(moderator, receiver.url);
    await happen({ audience: 'OWNER', ownerId: bob.id });
    await until(async () => (await deliveriesOf(path, admin))[0]?.attempts.length === 1);
    await stack.sql('users', `UPDATE users SET role = 'USER' WHERE id = $1`, [moderator.id]);
    expect((await deliveriesOf(path, admin))[0]).toMatchObject({ status: 'cancelled' });
    await call('DELETE', path, admin);
  });
});

describe('deliveries', () => {
  it('wait for no slow endpoint, which never has more than eight requests of a machine at once', async () => {
    const [slow, fast] = [await open(), await open()];
    const held: (() => void)[] = [];
    slow.behave = (response) => held.push(() => response.writeHead(204).end());
    const [slowHook, fastHook] = [await create(ada, slow.url, ['post.*']), await create(bob, fast.url, ['comment.*'])];
    for (let i = 0; i < 30; i++) await happen();
    await until(() => Promise.resolve(held.length >= 5));
    for (let i = 0; i < 10; i++) await happen({ type: 'comment.created' });
    await until(() => isDone(fastHook.path, bob, 10));
    expect(held.length).toBeLessThanOrEqual(8 * MACHINES);
    slow.behave = answer(204);
    for (const release of held) release();
    await until(() => isDone(slowHook.path, ada, 30));
    expect(slow.load.most).toBeLessThanOrEqual(8 * MACHINES);
    for (const { path } of [slowHook, fastHook]) await call('DELETE', path, admin);
  });
});

describe('many endpoints that do not answer', () => {
  it('delay no delivery to one that does', async () => {
    const dead = await Promise.all(
      Array.from({ length: 19 }, (_, i) => create(bob, `https://host-${String(i % 2)}.invalid/`, ['payment.*'])),
    );
    for (let i = 0; i < 20; i++) await happen({ type: 'payment.succeeded' });
    const receiver = await open();
    const { path } = await create(ada, receiver.url, ['comment.*']);
    const startedAt = Date.now();
    await happen({ type: 'comment.created' });
    await until(() => isDone(path, ada, 1));
    expect(Date.now() - startedAt).toBeLessThan(10_000);
    for (const hook of [...dead, { path }]) await call('DELETE', hook.path, admin);
  });
});

describe('a users process that is killed amid deliveries', () => {
  it('has lost nothing when it is back, and what arrives twice has the same id', async () => {
    const receiver = await open();
    const { path } = await create(ada, receiver.url, ['comment.*']);
    const ids: string[] = [];
    for (let i = 0; i < 20; i++) ids.push(await happen({ type: 'comment.updated' }));
    receiver.behave = (response, arrival) => {
      // Held: the kill comes before the response.
      if (ids.indexOf(arrival.id) < 10) response.writeHead(204).end();
    };
    await until(() => Promise.resolve(receiver.arrivals.length >= 12));
    await stack.kill('users');
    receiver.behave = answer(204);
    // The leases of the killed process end now rather than in 40 s.
    await stack.sql('users', `UPDATE webhook_deliveries SET "nextAttemptAt" = now() WHERE status = 'WAITING'`);
    await stack.revive('users');
    await until(() => isDone(path, ada, 20));
    expect(new Set(receiver.arrivals.map(({ id }) => id))).toEqual(new Set(ids));
    expect((await deliveriesOf(path, ada)).every(({ status }) => status === 'succeeded')).toBe(true);
    expect(receiver.arrivals.length).toBeGreaterThan(20);
    await call('DELETE', path, ada);
  });
});
