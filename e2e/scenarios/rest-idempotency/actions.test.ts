/** Actions that are sent again with their Idempotency-Key (contract §4): every POST accepts one. */
import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { createJobId } from '@trestle/chassis/jobs/job-kinds';
import { createIds } from '@trestle/chassis/values/ids';
import { toWebm } from '../../stack/clients/multipart.ts';
import { type LeasedStack, leaseStack } from '../../stack/leased-stack.ts';
import type { Account } from '../../stack/stack.ts';

let stack: LeasedStack;
let ada: Account;
let root: Account;
beforeAll(async () => {
  stack = await leaseStack();
  [ada, root] = [await stack.createAccount('Ada'), await stack.createAccount('Root', 'ADMIN')];
});
afterAll(() => stack.stop());

interface Sent {
  readonly body?: object;
  readonly token?: string;
  readonly key?: string;
  readonly headers?: Readonly<Record<string, string>>;
}

const post = (path: string, { body, token = ada.token, key = randomUUID(), headers }: Sent = {}) =>
  stack.call('POST', path, { token, body, headers: { 'idempotency-key': key, ...headers } });
const replayedOf = ({ status, headers }: { status: number; headers: Headers }) => [status, headers.get('idempotent-replayed')];
const createId = createIds({ now: Date.now });

describe('a webhook', () => {
  const countDeliveries = async (id: string) =>
    (await stack.sql('users', 'SELECT FROM webhook_deliveries WHERE "webhookId" = $1', [id])).length;
  const create = async () => {
    const body = { name: 'Hook', url: 'https://hooks.example.org/', types: ['post.*'] };
    return ((await post('/v1/webhooks', { body })).body as { webhook: { id: string } }).webhook.id;
  };

  it('is pinged once for each key, also when it was disabled in between', async () => {
    const id = await create();
    const key = randomUUID();
    const first = await post(`/v1/webhooks/${id}/pings`, { key });
    expect(replayedOf(first)).toEqual([201, null]);
    await stack.call('PATCH', `/v1/webhooks/${id}`, { token: ada.token, body: { isEnabled: false } });
    const again = await post(`/v1/webhooks/${id}/pings`, { key });
    expect(replayedOf(again)).toEqual([201, 'true']);
    expect([again.body, again.headers.get('location')]).toEqual([first.body, first.headers.get('location')]);
    expect((await post(`/v1/webhooks/${id}/pings`)).status).toBe(422);
    expect(await countDeliveries(id)).toBe(1);
  });

  it('answers 409 to a repeated rotation, also when it was deleted in between, and 410 to a new one', async () => {
    const path = `/v1/webhooks/${await create()}`;
    const rotation = { key: randomUUID(), body: {} };
    expect((await post(`${path}/rotations`, rotation)).status).toBe(201);
    expect((await stack.call('DELETE', path, { token: ada.token })).status).toBe(204);
    expect((await post(`${path}/rotations`, rotation)).status).toBe(409);
    expect((await post(`${path}/rotations`, { ...rotation, headers: { 'if-match': '*' } })).status).toBe(409);
    expect((await post(`${path}/rotations`, { body: {} })).status).toBe(410);
  });

  it('gets a delivery or a time again once for each key, and answers 422 to a key with another body', async () => {
    const id = await create();
    const [delivery, key] = [(await post(`/v1/webhooks/${id}/pings`)).headers.get('location') ?? '', randomUUID()];
    const replays = [await post(`${delivery}/replays`, { key }), await post(`${delivery}/replays`, { key })];
    expect(replays.map(replayedOf)).toEqual([
      ...[
        [201, null],
        [201, 'true'],
      ],
    ]);
    expect(await countDeliveries(id)).toBe(2);
    const since = { since: '2026-01-01T00:00:00Z' };
    const ranges = [
      await post(`/v1/webhooks/${id}/replays`, { key, body: since }),
      await post(`/v1/webhooks/${id}/replays`, { key, body: since }),
      await post(`/v1/webhooks/${id}/replays`, { key, body: { since: '2026-01-02T00:00:00Z' } }),
    ];
    expect(ranges.map(replayedOf)).toEqual([
      [200, null],
      [200, 'true'],
      [422, null],
    ]);
    expect(ranges[1]?.body).toEqual(ranges[0]?.body);
  });
});

describe('a job', () => {
  const databaseOf = (kind: 'RESET_PASSWORD' | 'PUBLISH_VIDEO') => (kind === 'PUBLISH_VIDEO' ? 'content' : 'users');
  const insert = async (kind: 'RESET_PASSWORD' | 'PUBLISH_VIDEO', status: 'QUEUED' | 'FAILED') => {
    const [id, videoId] = [createJobId(kind, createId), createId('vid')];
    await stack.sql(
      'content',
      `INSERT INTO videos (id, "ownerId", title, status, "createdAt", "updatedAt") VALUES ($1, $2, 'Bridge', 'FAILED', now(), now())`,
      [videoId, ada.id],
    );
    await stack.sql(
      databaseOf(kind),
      `INSERT INTO jobs (id, kind, status, input, "ownerId", "createdAt", "updatedAt")
       VALUES ($1, $2, $3::"JobStatus", $4, $5, now(), now())`,
      [id, kind, status, { videoId, email: 'hidden@example.org' }, ada.id],
    );
    return id;
  };

  it.each(['RESET_PASSWORD', 'PUBLISH_VIDEO'] as const)('of kind %s is cancelled once for each key', async (kind) => {
    const path = `/v1/jobs/${await insert(kind, 'QUEUED')}/cancel`;
    const key = randomUUID();
    const first = await post(path, { key });
    expect(replayedOf(first)).toEqual([200, null]);
    const again = await post(path, { key });
    expect(replayedOf(again)).toEqual([200, 'true']);
    expect(again.body).toEqual(first.body);
    const kept = await stack.sql<{ result: string }>(databaseOf(kind), 'SELECT result::text FROM idempotency_keys');
    expect(JSON.stringify(kept)).not.toContain('hidden@example.org');
  });

  it.each(['RESET_PASSWORD', 'PUBLISH_VIDEO'] as const)('of kind %s is deleted again without a change', async (kind) => {
    const path = `/v1/jobs/${await insert(kind, 'QUEUED')}`;
    const remove = (headers = {}) => stack.call('DELETE', path, { token: ada.token, headers });
    expect((await remove()).status).toBe(204);
    const { body, headers } = await stack.call('GET', path, { token: ada.token });
    expect(body).toMatchObject({ status: 'cancelled' });
    expect([(await remove()).status, (await remove({ 'if-match': headers.get('etag') ?? '' })).status]).toEqual([204, 204]);
    expect((await remove({ 'if-match': '"v1-x"' })).status).toBe(412);
    expect((await stack.call('DELETE', path, { token: root.token })).status).toBe(204);
    expect((await stack.call('GET', path, { token: ada.token })).headers.get('etag')).toBe(headers.get('etag'));
    expect((await stack.call('DELETE', `/v1/jobs/${await insert(kind, 'FAILED')}`, { token: ada.token })).status).toBe(422);
  });

  it.each(['RESET_PASSWORD', 'PUBLISH_VIDEO'] as const)('of kind %s is queued again once for each key', async (kind) => {
    const path = `/v1/jobs/${await insert(kind, 'FAILED')}/retry`;
    const key = randomUUID();
    expect((await post(path, { key })).status).toBe(403);
    const replies = [await post(path, { key, token: root.token }), await post(path, { key, token: root.token })];
    expect(replies.map(replayedOf)).toEqual([
      [200, null],
      [200, 'true'],
    ]);
  });
});

describe('the publishing of a video', () => {
  it('returns its job to a repetition, also when the video was deleted in between', async () => {
    const upload = await fetch(`${stack.rest}/v1/videos?title=Bridge`, {
      method: 'POST',
      headers: { authorization: `Bearer ${ada.token}`, 'content-type': 'video/webm' },
      body: new Uint8Array(toWebm(2000)),
    });
    const path = upload.headers.get('location') ?? '';
    const key = randomUUID();
    const first = await post(`${path}/publish`, { key });
    expect(replayedOf(first)).toEqual([202, null]);
    expect((await stack.call('DELETE', path, { token: ada.token })).status).toBe(204);
    const again = await post(`${path}/publish`, { key });
    expect(replayedOf(again)).toEqual([202, 'true']);
    expect(again.body).toEqual(first.body);
    for (const headers of [{ 'if-match': '*' }, { 'if-none-match': '"v9-x"' }, { 'if-unmodified-since': new Date(0).toUTCString() }])
      expect(replayedOf(await post(`${path}/publish`, { key, headers }))).toEqual([202, 'true']);
    expect((await post(`${path}/publish`)).status).toBe(410);
    expect((await post(`${path}/publish`, { headers: { 'if-match': '*' } })).status).toBe(410);
  });
});
