/** Deliveries of webhooks: what arrives where, how it is signed, what is tried again, and what is sent once more (Standard Webhooks). */
import { describe, expect, it } from '@jest/globals';
import { until } from '../../stack/clients/client.ts';
import type { Account } from '../../stack/stack.ts';
import { answer, verifies } from './receiver.ts';
import { ada, admin, bob, call, create, deliveriesOf, get, happen, isDone, open, useWebhooks } from './webhook-system.ts';

useWebhooks();

describe('a delivery', () => {
  it('is a CloudEvent with a signature that the official library verifies', async () => {
    const receiver = await open();
    const { secret, path } = await create(ada, receiver.url, ['post.*']);
    const id = await happen();
    await happen({ type: 'comment.created' });
    await until(() => isDone(path, ada, 1));
    const [arrival] = receiver.arrivals;
    expect(receiver.arrivals).toHaveLength(1);
    expect(arrival).toMatchObject({ id, contentType: 'application/cloudevents+json; charset=utf-8' });
    expect(arrival?.event).toMatchObject({
      specversion: '1.0',
      id,
      type: 'post.created',
      source: '/content',
      subject: 'pst_1',
      data: { version: 1 },
      time: expect.stringMatching(/^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}Z$/),
    });
    expect(arrival && verifies(secret, arrival)).toBe(true);
    expect(arrival && verifies(`whsec_${Buffer.alloc(32).toString('base64')}`, arrival)).toBe(false);
    const [delivery] = await deliveriesOf(path, ada);
    expect(delivery).toMatchObject({ status: 'succeeded', kind: 'event', eventId: id, attemptCount: 1 });
    expect(JSON.stringify(delivery)).not.toContain('v1,');
    await call('DELETE', path, ada);
  });

  it('goes to those who may learn of the event only', async () => {
    const receiver = await open();
    const hooks = [
      await create(ada, `${receiver.url}?ada`),
      await create(bob, `${receiver.url}?bob`),
      await create(admin, `${receiver.url}?admin`),
    ];
    const [own, secret] = [
      await happen({ type: 'order.paid', audience: 'OWNER', ownerId: ada.id }),
      await happen({ type: 'post.updated', audience: 'ADMIN' }),
    ];
    await happen();
    await until(async () =>
      (await Promise.all(hooks.map(({ path }, i) => isDone(path, [ada, bob, admin][i] as Account, [2, 1, 3][i] ?? 0)))).every(Boolean),
    );
    expect(receiver.arrivals.filter(({ id }) => id === own)).toHaveLength(2);
    expect(receiver.arrivals.filter(({ id }) => id === secret)).toHaveLength(1);
    for (const { path } of hooks) await call('DELETE', path, admin);
  });

  it('is signed with both secrets while they overlap, and then with the new one', async () => {
    const receiver = await open();
    const { secret, path } = await create(ada, receiver.url);
    const rotated = (await call('POST', `${path}/rotations`, ada, { body: { overlapHours: 1 } })).body as { secret: string };
    await call('POST', `${path}/pings`, ada);
    await until(() => isDone(path, ada, 1));
    const again = (await call('POST', `${path}/rotations`, ada, { body: { overlapHours: 0 } })).body as { secret: string };
    await call('POST', `${path}/pings`, ada);
    await until(() => isDone(path, ada, 2));
    const [both, single] = receiver.arrivals;
    expect(both && [secret, rotated.secret].map((each) => verifies(each, both))).toEqual([true, true]);
    expect(single && [rotated.secret, again.secret].map((each) => verifies(each, single))).toEqual([false, true]);
    expect(both?.event.type).toBe('webhook.ping');
    await call('DELETE', path, ada);
  });

  it('is tried again with the same id until it succeeds, and the log shows each attempt', async () => {
    const receiver = await open();
    receiver.behave = (response) => {
      const step = receiver.arrivals.length;
      if (step === 1) response.writeHead(500, { 'set-cookie': 'a=secret', 'x-reason': 'busy' }).end();
      else if (step === 2) response.destroy();
      else response.writeHead(204).end();
    };
    const { path } = await create(ada, receiver.url);
    const id = await happen();
    await until(() => isDone(path, ada, 1));
    expect(receiver.arrivals.map((arrival) => arrival.id)).toEqual([id, id, id]);
    const [delivery] = await deliveriesOf(path, ada);
    expect(delivery?.attempts.map(({ status }) => status)).toEqual([500, null, 204]);
    expect(delivery?.attempts[0]?.responseHeaders).toMatchObject({ 'x-reason': 'busy' });
    expect(JSON.stringify(delivery)).not.toContain('secret');
    expect(await get(path, ada)).toMatchObject({ failingSince: null, isEnabled: true });
    await call('DELETE', path, ada);
  });

  it('fails after the last attempt; a redirect is not followed', async () => {
    const [receiver, target] = [await open(), await open()];
    receiver.behave = answer(307, { location: target.url });
    const { path } = await create(ada, receiver.url);
    await happen();
    await until(() => isDone(path, ada, 1));
    expect((await deliveriesOf(path, ada))[0]).toMatchObject({ status: 'failed', attemptCount: 4 });
    expect([receiver.arrivals.length, target.arrivals.length]).toEqual([4, 0]);
    expect((await get(path, ada)).failingSince).not.toBeNull();
    await call('DELETE', path, ada);
  });

  it('succeeds by its status when the response has 10 MB, of which 64 KiB are read', async () => {
    const receiver = await open();
    const sent = { bytes: 0 };
    receiver.behave = (response) => {
      response.writeHead(200);
      const write = () => {
        while (sent.bytes < 10_000_000 && !response.destroyed) {
          sent.bytes += 65_536;
          if (!response.write(Buffer.alloc(65_536))) {
            response.once('drain', write);
            return;
          }
        }
        response.end();
      };
      write();
    };
    const { path } = await create(ada, receiver.url);
    await happen();
    await until(() => isDone(path, ada, 1));
    await until(() => Promise.resolve(receiver.load.open === 0));
    expect((await deliveriesOf(path, ada))[0]).toMatchObject({ status: 'succeeded', attemptCount: 1 });
    expect(sent.bytes).toBeLessThan(10_000_000);
    await call('DELETE', path, ada);
  });
});

describe('a replay', () => {
  it('sends the event of a delivery again, with the same id', async () => {
    const receiver = await open();
    const { path } = await create(ada, receiver.url);
    const id = await happen();
    await until(() => isDone(path, ada, 1));
    const [first] = await deliveriesOf(path, ada);
    const reply = await call('POST', `${path}/deliveries/${first?.id ?? ''}/replays`, ada);
    expect(reply.status).toBe(201);
    await until(() => isDone(path, ada, 2));
    expect(receiver.arrivals.map((arrival) => arrival.id)).toEqual([id, id]);
    expect((await call('GET', reply.headers.get('location') ?? '', ada)).body).toMatchObject({
      kind: 'replay',
      status: 'succeeded',
      eventId: id,
    });
    expect((await call('POST', `${path}/deliveries/dlv_0/replays`, ada)).status).toBe(404);
    // Location names the delivery, whatever `fields` selects.
    for (const action of ['pings', `deliveries/${first?.id ?? ''}/replays`]) {
      const made = await call('POST', `${path}/${action}?fields=status`, ada);
      expect([made.status, Object.keys(made.body as object)]).toEqual([201, ['status']]);
      const location = made.headers.get('location') ?? '';
      expect((await call('GET', location, ada)).body).toMatchObject({ id: location.split('/').at(-1) });
    }
    await call('DELETE', path, ada);
  });

  it('sends all events since a time again that the webhook selects', async () => {
    const receiver = await open();
    const since = new Date().toISOString();
    const ids = [await happen({ type: 'video.published' }), await happen({ type: 'video.deleted' })];
    await happen({ type: 'video.published', audience: 'OWNER', ownerId: bob.id });
    const { path } = await create(ada, receiver.url, ['video.*']);
    const reply = await call('POST', `${path}/replays`, ada, { body: { since } });
    expect([reply.status, reply.body]).toEqual([200, { count: 2, until: expect.any(String), isComplete: true }]);
    await until(() => isDone(path, ada, 2));
    expect(receiver.arrivals.map((arrival) => arrival.id).sort()).toEqual(ids);
    await call('DELETE', path, ada);
  });
});
