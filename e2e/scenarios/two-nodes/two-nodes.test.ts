/**
 * Two machines behind a load balancer behave as one system, and the loss of one loses nothing that was acknowledged (spec §5.3, §6, §8,
 * contract §4). `npm run scenario:two-nodes` runs this and most other scenarios in this way.
 */
import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { request, until } from '../../stack/clients/client.ts';
import { expectEachOnce, startDurableLoad } from '../../stack/durable-load.ts';
import { followEvents } from '../../stack/clients/event-follower.ts';
import { startFront } from '../../stack/processes/front.ts';
import type { StackNode } from '../../stack/processes/nodes.ts';
import { type Account, type Stack, startStack } from '../../stack/stack.ts';
import { subscribeTo } from '../../stack/clients/subscriber.ts';
import { type Receiver, startReceiver } from '../webhooks/receiver.ts';
import { untilPublished, uploadVideos } from './video-jobs.ts';

/** Ten processes start. */
const START_MS = 120_000;
let stack: Stack;
let ada: Account;
let receiver: Receiver;
/** The machine that is killed at the end, and the other one. */
let lost: StackNode;
let kept: StackNode;

beforeAll(async () => {
  const env = { WEBHOOK_ALLOW_PRIVATE: 'on', WEBHOOK_RETRY_SECONDS: '1,1,1', JOB_HEARTBEAT_MS: '1000' };
  [stack, receiver] = await Promise.all([startStack({ nodes: 2, env }), startReceiver()]);
  [kept, lost] = stack.nodes as [StackNode, StackNode];
  ada = await stack.createAccount('Ada');
}, START_MS);
afterAll(async () => {
  await stack.stop();
  await receiver.close();
});

const RECORDED = `SELECT 1 FROM webhook_deliveries WHERE event->>'subject' = ANY($1)`;
const bridges = () => [kept.bridge.url, lost.bridge.url];
const post = (url: string, { path, body, key }: { path: string; body?: object; key?: string }) =>
  request(`${url}${path}`, { method: 'POST', body, token: ada.token, ...(key !== undefined && { headers: { 'idempotency-key': key } }) });
const writePost = (url: string, title: string) => post(url, { path: '/v1/posts', body: { title, body: 'x' } });

describe('two machines', () => {
  it('count the requests of a caller together, exactly, when they arrive at the same time', async () => {
    // Where there is no Redis, the start of the stack has said so.
    if (!stack.redis) return;
    const limited = await Promise.all([kept, lost].map((node) => node.startBridge({ RATE_LIMIT_FREE_PER_MIN: '10' })));
    const front = await startFront(limited.map(({ port }) => port));
    const ask = async (url: string) => (await request(`${url}/v1/products`, { method: 'GET', token: ada.token })).status;
    // The load balancer alternates, so that each machine counts fewer than ten.
    const statuses = await Promise.all(Array.from({ length: 18 }, () => ask(front.url)));
    expect(statuses.toSorted()).toEqual([...Array<number>(10).fill(200), ...Array<number>(8).fill(429)]);
    for (const { url } of limited) expect(await ask(url)).toBe(429);
    await front.stop();
    await Promise.all(limited.map((bridge) => bridge.end('SIGTERM')));
  });

  it('reject a token at every process when its revocation at one of them is answered', async () => {
    const body = { email: 'ada@example.org', password: 'Ada-passes-1' };
    const { accessToken: token } = (await stack.call('POST', '/v1/auth/login', { body })).body as { accessToken: string };
    const graphs = [kept, lost].flatMap(({ gateway, subgraphs }) => [gateway, ...Object.values(subgraphs)]);
    const ask = () =>
      Promise.all([
        ...graphs.map(({ url }) => request(`${url}/graphql`, { method: 'POST', body: { query: '{ __typename }' }, token })),
        ...bridges().map((url) => request(`${url}/v1/products`, { method: 'GET', token })),
      ]);
    const statuses = async () => (await ask()).map(({ status }) => status);
    expect(await statuses()).toEqual(Array(10).fill(200));
    expect((await request(`${lost.bridge.url}/v1/auth/logout`, { method: 'POST', token })).status).toBe(204);
    expect(await statuses()).toEqual(Array(10).fill(401));
  });

  it('make one change of requests with the same Idempotency-Key that arrive at both', async () => {
    const [key, title] = [randomUUID(), 'Once'];
    const send = (_: unknown, at: number) => post(bridges()[at % 2] ?? '', { path: '/v1/posts', body: { title, body: 'x' }, key });
    const replies = await Promise.all(Array.from({ length: 20 }, send));
    const made = replies.filter(({ status }) => status === 201);
    expect(replies.filter(({ status }) => status !== 201 && status !== 409)).toEqual([]);
    expect(new Set(made.map(({ body }) => (body as { id: string }).id)).size).toBe(1);
    expect(await stack.sql('content', 'SELECT id FROM posts WHERE title = $1', [title])).toHaveLength(1);
  });

  it('send events of writes at one of them to subscribers at the other', async () => {
    const query = 'subscription { userCreated { name } }';
    const subscribers = [kept, lost].map(({ gateway }) => subscribeTo(gateway.url, { query, token: ada.token, resume: {} }));
    // The first result is the position at which the subscription begins.
    await Promise.all(subscribers.map((subscriber) => subscriber.wait(1)));
    for (const [at, url] of bridges().entries()) {
      const body = { email: `new.${String(at)}@example.org`, name: `New ${String(at)}`, password: 'New-passes-1' };
      expect((await post(url, { path: '/v1/users', body })).status).toBe(201);
    }
    for (const subscriber of subscribers) {
      const results = await subscriber.wait(3);
      expect(results.flatMap(({ data }) => (data ? [data['userCreated']] : []))).toEqual([{ name: 'New 0' }, { name: 'New 1' }]);
      await subscriber.stop();
    }
  });

  it('do a job once that is requested at both', async () => {
    const ids = await uploadVideos(stack, ada, 4);
    const publish = (id: string) => Promise.all(bridges().map((url) => post(url, { path: `/v1/videos/${id}/publish` })));
    for (const replies of await Promise.all(ids.map(publish))) {
      expect(replies.map(({ status }) => status)).toEqual([202, 202]);
      expect(new Set(replies.map(({ body }) => (body as { jobId: string }).jobId)).size).toBe(1);
    }
    expect((await untilPublished(stack, ids)).map(({ version }) => version)).toEqual(ids.map(() => 3));
    // Each has one job. A worker that a busy machine holds up for 4 s is taken for dead, so the job may have a second attempt, without effect.
    expect(await stack.sql('content', 'SELECT id FROM jobs WHERE "subjectId" = ANY($1)', [ids])).toHaveLength(ids.length);
  });

  it('deliver each event to a webhook once', async () => {
    const webhook = { name: 'Posts', url: receiver.url, types: ['post.created'] };
    expect((await post(stack.rest, { path: '/v1/webhooks', body: webhook })).status).toBe(201);
    const replies = await Promise.all(Array.from({ length: 10 }, (_, at) => writePost(bridges()[at % 2] ?? '', `Hook ${String(at)}`)));
    await until(() => Promise.resolve(receiver.arrivals.length >= replies.length));
    const unfinished = `SELECT 1 FROM webhook_deliveries WHERE status = 'WAITING'`;
    await until(async () => (await stack.sql('users', unfinished)).length === 0);
    const subjects = receiver.arrivals.map(({ event }) => event.subject);
    expect(subjects.toSorted()).toEqual(replies.map(({ body }) => (body as { id: string }).id).toSorted());
  });
});

describe('when one of two machines is killed under load', () => {
  it('no acknowledged write is lost, no job takes effect twice, and clients get 409, 502 or 503 at worst', async () => {
    const videos = await uploadVideos(stack, ada, 6);
    // Before the first write, because a stream without a position begins with the next event.
    const followers = await Promise.all(
      Array.from({ length: 2 }, () => followEvents({ url: stack.rest, token: ada.token, type: 'post.created' })),
    );
    const load = startDurableLoad({ url: stack.rest, author: ada, clients: 6 });
    await load.more(20);
    const accepted = await Promise.all(videos.map((id) => post(kept.bridge.url, { path: `/v1/videos/${id}/publish` })));
    expect(accepted.map(({ status }) => status)).toEqual(videos.map(() => 202));
    await lost.kill();
    await load.more(60);
    await load.stop();

    await expectEachOnce(load, { stack, author: ada });
    // 409: a subgraph still processes the attempt that the killed machine had passed on (contract: in flight).
    expect(Object.keys(load.answers).filter((answer) => !/^(?:201|409 CONFLICT|502|503)\b/.test(answer))).toEqual([]);
    expect((await untilPublished(stack, videos)).map(({ version }) => version)).toEqual(videos.map(() => 3));
    const written = [...load.acknowledged.values()];
    await until(async () => (await stack.sql('users', RECORDED, [written])).length === written.length);
    // What the killed machine was delivering is due again in half a minute. Half a minute passes.
    await stack.sql('users', `UPDATE webhook_deliveries SET "nextAttemptAt" = now() WHERE status = 'WAITING'`);
    const isDelivered = (id: string) => receiver.arrivals.some(({ event }) => event.subject === id);
    await until(() => Promise.resolve(written.every(isDelivered)));
    for (const follower of followers) await follower.untilSeen(written);
    await Promise.all(followers.map((follower) => follower.stop()));
    for (const { subjects } of followers) expect(new Set(subjects).size).toBe(subjects.length);
    // The load balancer alternates, so one of the two was connected to the machine that was killed.
    expect(Math.max(...followers.map(({ connections }) => connections))).toBeGreaterThan(1);
  });
});
