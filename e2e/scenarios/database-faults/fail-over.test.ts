/** A PostgreSQL primary that is killed under load and replaced by its synchronous standby (spec §7.3, §8). */
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { request, until } from '../../stack/clients/client.ts';
import { expectEachOnce, startDurableLoad } from '../../stack/durable-load.ts';
import { followEvents } from '../../stack/clients/event-follower.ts';
import { type ReplicatedPostgres, startReplicatedPostgres } from '../../stack/processes/replicated-postgres.ts';
import { type Account, type Stack, startStack } from '../../stack/stack.ts';
import { untilPublished, uploadVideos } from '../two-nodes/video-jobs.ts';

/** Seven processes start. */
const START_MS = 120_000;
let postgres: ReplicatedPostgres;
let stack: Stack;
let ada: Account;

beforeAll(async () => {
  postgres = await startReplicatedPostgres();
  stack = await startStack({ adminUrl: postgres.adminUrl, env: { JOB_HEARTBEAT_MS: '300' } });
  ada = await stack.createAccount('Ada');
}, START_MS);
// Without a primary the databases cannot be dropped.
afterAll(() => stack.stop().finally(() => postgres.stop()));

describe('when the primary is killed and the standby is promoted', () => {
  it('clients get 503 or 504 meanwhile, and nothing that was acknowledged is lost', async () => {
    const videos = await uploadVideos(stack, ada, 4);
    // Before the first write, because a stream without a position begins with the next event.
    const follower = await followEvents({ url: stack.rest, token: ada.token, type: 'post.created' });
    const load = startDurableLoad({ url: stack.rest, author: ada, clients: 4 });
    await load.more(20);
    const accepted = await Promise.all(videos.map((id) => stack.call('POST', `/v1/videos/${id}/publish`, { token: ada.token })));
    expect(accepted.map(({ status }) => status)).toEqual(videos.map(() => 202));
    await postgres.killPrimary();
    await until(async () => (await request(`${stack.subgraphs.content.url}/readyz`, { method: 'GET' })).status === 503);
    await postgres.promote();
    await load.more(40);
    await load.stop();

    await expectEachOnce(load, { stack, author: ada });
    // 409: an earlier attempt with the same Idempotency-Key has not ended yet.
    expect(Object.keys(load.answers).filter((answer) => !/^(?:201|409|503|504)\b/.test(answer))).toEqual([]);
    expect((await untilPublished(stack, videos)).map(({ version }) => version)).toEqual(videos.map(() => 3));
    const written = [...load.acknowledged.values()];
    await follower.untilSeen(written);
    await follower.stop();
    expect(new Set(follower.subjects).size).toBe(follower.subjects.length);
    for (const { url } of [...stack.edge, ...Object.values(stack.subgraphs)])
      await until(async () => (await request(`${url}/readyz`, { method: 'GET' })).status === 200);
  });
});
