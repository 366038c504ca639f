/** Publishing of videos (spec §4.2, contract §3, §4): a job reads the content, makes a poster and makes the video visible. */
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { until } from '../../stack/clients/client.ts';
import { sendFiles, toWebm } from '../../stack/clients/multipart.ts';
import { type Account, type Stack, startStack } from '../../stack/stack.ts';
import { codeOf } from '../sessions/browser.ts';
import { toMp4 } from './video-files.ts';

let stack: Stack;
let ada: Account;
let bob: Account;
let admin: Account;

beforeAll(async () => {
  stack = await startStack({ env: { JOB_HEARTBEAT_MS: '300' } });
  ada = await stack.createAccount('Ada');
  bob = await stack.createAccount('Bob');
  admin = await stack.createAccount('Root', 'ADMIN');
});
afterAll(() => stack.stop());

async function upload(file: Buffer, title = 'A <bridge> & more'): Promise<string> {
  const query = 'mutation($title: String!, $file: Upload!) { uploadVideo(title: $title, file: $file) { id } }';
  const { body } = await sendFiles(stack.gateway, { query, variables: { title, file: null }, files: { file }, token: ada.token });
  return (body.data?.['uploadVideo'] as { id: string }).id;
}
const publish = (id: string, token?: string, headers = {}) => stack.call('POST', `/v1/videos/${id}/publish`, { token, headers });
const jobOf = ({ body }: { body: unknown }) => (body as { jobId: string }).jobId;
const readJob = async (id: string) => (await stack.call('GET', `/v1/jobs/${id}`, { token: ada.token })).body as Record<string, unknown>;
const statusOf = async (id: string) =>
  ((await stack.call('GET', `/v1/videos/${id}`, { token: ada.token })).body as { status: string }).status;

describe('POST /v1/videos/{id}/publish', () => {
  it('answers 202, and the video becomes visible with its duration and a poster', async () => {
    const id = await upload(toMp4(93));
    const reply = await publish(id, ada.token);
    expect([reply.status, reply.headers.get('location')]).toEqual([202, `/v1/jobs/${jobOf(reply)}`]);
    await until(async () => (await readJob(jobOf(reply)))['status'] === 'succeeded');
    expect(await readJob(jobOf(reply))).toMatchObject({
      kind: 'publish_video',
      progress: 100,
      result: { videoId: id, mediaType: 'video/mp4', durationSeconds: 93, poster: 'image/png' },
    });
    const { data } = await stack.graphql<{
      video: { status: string; durationSeconds: number; poster: { mediaType: string; url: string } };
    }>('query($id: ID!) { video(id: $id) { status durationSeconds poster { mediaType url } } }', { variables: { id } });
    expect(data?.video).toMatchObject({ status: 'PUBLISHED', durationSeconds: 93, poster: { mediaType: 'image/png' } });
    const image = Buffer.from(data?.video.poster.url.split(',')[1] ?? '', 'base64');
    expect([image.readUInt32BE(16), image.readUInt32BE(20)]).toEqual([640, 360]);
    const again = await publish(id, ada.token);
    expect([again.status, codeOf(again)]).toEqual([422, 'BUSINESS_RULE_VIOLATION']);
    const { body } = await stack.call('GET', `/v1/videos/${id}`);
    expect(body).toMatchObject({ _links: { content: { href: `/v1/videos/${id}/content` }, poster: { href: `/v1/videos/${id}/poster` } } });
    const get = (headers = {}) => fetch(`${stack.rest}/v1/videos/${id}/poster`, { headers });
    const poster = await get();
    expect([poster.status, poster.headers.get('content-type'), poster.headers.get('x-content-type-options')]).toEqual([
      ...[200, 'image/png', 'nosniff'],
    ]);
    expect(Buffer.from(await poster.arrayBuffer()).equals(image)).toBe(true);
    expect((await get({ 'if-none-match': poster.headers.get('etag') ?? '' })).status).toBe(304);
    const part = await get({ range: 'bytes=1-3' });
    expect([part.status, await part.text(), part.headers.get('content-range')]).toEqual([206, 'PNG', `bytes 1-3/${String(image.length)}`]);
  });

  it('names the job in Location whatever `fields` names', async () => {
    const id = await upload(toMp4(5));
    const reply = await stack.call('POST', `/v1/videos/${id}/publish?fields=status`, { token: ada.token });
    expect([reply.body, reply.headers.get('location')]).toEqual([
      { status: 'queued' },
      expect.stringMatching(/^\/v1\/jobs\/job_[0-9a-z]{26}$/),
    ]);
    expect((await stack.call('GET', `/v1/videos/${id}/poster`, { token: ada.token })).status).toBe(404);
  });

  it('returns the job that runs already, and the same job for the same Idempotency-Key', async () => {
    const id = await upload(toMp4(5));
    const headers = { 'idempotency-key': `publish-${id}` };
    const replies = await Promise.all([publish(id, ada.token), publish(id, ada.token, headers), publish(id, admin.token)]);
    expect(new Set(replies.map(jobOf)).size).toBe(1);
    await until(async () => (await statusOf(id)) === 'published');
    expect(jobOf(await publish(id, ada.token, headers))).toBe(jobOf(replies[0]));
  });

  it('lets the owner read the job of a publication that an administrator has begun', async () => {
    const id = await upload(toMp4(5));
    const begun = await publish(id, admin.token);
    const { status } = await stack.call('GET', begun.headers.get('location') ?? '', { token: ada.token });
    expect([begun.status, status]).toEqual([202, 200]);
    await until(async () => (await statusOf(id)) === 'published');
  });

  it('answers 401, 404 and 403 to callers who may not publish the video', async () => {
    const id = await upload(toMp4(5));
    expect((await publish(id)).status).toBe(401);
    expect((await publish(id, bob.token)).status).toBe(404);
    await publish(id, ada.token);
    await until(async () => (await statusOf(id)) === 'published');
    expect((await publish(id, bob.token)).status).toBe(403);
    const stale = await publish(await upload(toMp4(5)), ada.token, { 'if-match': '"9-x"' });
    expect(stale.status).toBe(412);
  });

  it.each([
    ['without content', 'The video has no content. Upload the video again.'],
    ['whose content is damaged', 'The content of the video cannot be read: it is damaged or has no duration.'],
  ])('fails for a video %s, which can be published again', async (name, message) => {
    const id = await upload(toWebm(2000));
    if (name === 'without content')
      await stack.sql('content', 'UPDATE videos SET "fileKey" = NULL, "mediaType" = NULL, size = NULL, sha256 = NULL WHERE id = $1', [id]);
    const reply = await publish(id, ada.token);
    await until(async () => (await statusOf(id)) === 'failed');
    expect(await readJob(jobOf(reply))).toMatchObject({
      status: 'failed',
      attempts: 1,
      error: { code: 'BUSINESS_RULE_VIOLATION', message },
    });
    const again = await publish(id, ada.token);
    expect([again.status, jobOf(again) === jobOf(reply)]).toEqual([202, false]);
    await until(async () => (await readJob(jobOf(again)))['status'] === 'failed');
    const retried = await stack.call('POST', `/v1/jobs/${jobOf(again)}/retry`, { token: admin.token });
    expect(retried.status).toBe(200);
    await until(async () => (await readJob(jobOf(again)))['attempts'] === 2);
  });
});

describe('jobs of videos', () => {
  it('are done by another process when the first one is killed in the middle, and are listed and cancelled like all jobs', async () => {
    const ids = await Promise.all(Array.from({ length: 6 }, () => upload(toMp4(7, 3_000_000))));
    const replies = await Promise.all(ids.map((id) => publish(id, ada.token)));
    await stack.kill('content');
    await stack.revive('content');
    for (const id of ids) await until(async () => (await statusOf(id)) === 'published');
    const effects = await stack.sql<{ version: number }>('content', 'SELECT version FROM videos WHERE id = ANY($1)', [ids]);
    // One version for each change: uploaded, publishing, published.
    expect(effects.map(({ version }) => version)).toEqual(ids.map(() => 3));
    const list = await stack.call('GET', '/v1/jobs?kind=publish_video&limit=100', { token: ada.token });
    expect((list.body as { data: { id: string }[] }).data.map(({ id }) => id)).toEqual(expect.arrayContaining(replies.map(jobOf)));
    const done = await stack.call('POST', `/v1/jobs/${jobOf(replies[0] as (typeof replies)[0])}/cancel`, { token: ada.token });
    expect([done.status, codeOf(done)]).toEqual([422, 'BUSINESS_RULE_VIOLATION']);
    const hidden = await stack.call('DELETE', `/v1/jobs/${jobOf(replies[0] as (typeof replies)[0])}`, { token: bob.token });
    expect(hidden.status).toBe(404);
    const { data } = await stack.graphql<{ node: { status: string; video: { id: string } } }>(
      'query($id: ID!) { node(id: $id) { ... on PublishVideoJob { status video { id } } } }',
      { token: ada.token, variables: { id: jobOf(replies[0] as (typeof replies)[0]) } },
    );
    expect(data?.node).toEqual({ status: 'SUCCEEDED', video: { id: ids[0] } });
  });
});
