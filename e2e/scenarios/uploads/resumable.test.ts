/** Resumable uploads (ADR 27): tus 1.0 by its own client, and by hand where a client would not go. */
import { createHash, randomBytes } from 'node:crypto';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import * as tus from 'tus-js-client';
import { until } from '../../stack/clients/client.ts';
import { PNG, toWebm } from '../../stack/clients/multipart.ts';
import { type Account, type Stack, startStack } from '../../stack/stack.ts';
import { toMetadata, toTusRequests } from './tus-requests.ts';

const MIB = 1024 * 1024;
const MAX_BYTES = 20 * MIB;
const FILE = Buffer.concat([toWebm(100), randomBytes(9 * MIB)]);
const SHA256 = createHash('sha256').update(FILE).digest('hex');

let stack: Stack;
let ada: Account;
let bob: Account;
beforeAll(async () => {
  stack = await startStack({
    env: {
      MAX_UPLOAD_BYTES: String(MAX_BYTES),
      UPLOADS_PER_ACCOUNT: '4',
      UPLOADS_TOTAL_BYTES: String(50 * MIB),
      FILES_SWEEP_AFTER_SECONDS: '1',
    },
  });
  [ada, bob] = [await stack.createAccount('Ada'), await stack.createAccount('Bob')];
});
afterAll(() => stack.stop());

const bearer = ({ token }: Account) => ({ authorization: `Bearer ${token}` });

/** Uploads by the client library. Resolves with the path of the video. */
function uploadByClient(file: Buffer, options: Partial<tus.UploadOptions> = {}, prepare?: (upload: tus.Upload) => void): Promise<string> {
  return new Promise((resolve, reject) => {
    const upload = new tus.Upload(file, {
      endpoint: `${stack.rest}/v1/uploads`,
      headers: bearer(ada),
      metadata: { title: 'By tus', sha256: SHA256 },
      // It tries again at once, and then until the subgraph is back.
      retryDelays: [0, ...Array.from({ length: 50 }, () => 200)],
      onError: reject,
      onSuccess: ({ lastResponse }) => {
        resolve(lastResponse.getHeader('Content-Location') ?? '');
      },
      ...options,
    });
    prepare?.(upload);
    upload.start();
  });
}

const { send, create, append, appendWith, offsetOf, discard } = toTusRequests(() => ({ origin: stack.rest, headers: bearer(ada) }));
const parts = async () => readdir(join(stack.files, 'content', 'uploads')).catch(() => []);

describe('tus-js-client', () => {
  it('uploads a video, which has the declared SHA-256', async () => {
    const path = await uploadByClient(FILE, { chunkSize: 3 * MIB });
    const { body } = await stack.call('GET', path, { token: ada.token });
    expect(body).toMatchObject({
      title: 'By tus',
      status: 'uploaded',
      content: { mediaType: 'video/webm', size: FILE.length, sha256: SHA256 },
    });
    expect(await parts()).toEqual([]);
  });

  it('resumes after the subgraph was killed in the middle, from a later offset', async () => {
    const offsets: number[] = [];
    let reviving: Promise<void> | undefined;
    const { path } = await create(FILE.length);
    // With an endpoint the client would begin another upload when it is answered with 502.
    const video = await uploadByClient(FILE, {
      endpoint: null,
      uploadUrl: `${stack.rest}${path}`,
      chunkSize: 5 * MIB,
      onChunkComplete: (_, accepted) => {
        reviving ??= stack.kill('content').then(() => stack.revive('content'));
        offsets.push(accepted);
      },
    });
    await reviving;
    expect(offsets).toEqual([5 * MIB, FILE.length]);
    const content = await fetch(`${stack.rest}${video}/content`, { headers: bearer(ada) });
    expect(Buffer.from(await content.arrayBuffer()).equals(FILE)).toBe(true);
  });

  it('resumes an upload by its URL in another session, at another bridge', async () => {
    const { path } = await create(FILE.length);
    await append(path, 0, FILE.subarray(0, MIB));
    const bridge = await stack.startBridge();
    const video = await uploadByClient(FILE, { uploadUrl: `${bridge.url}${path}` });
    expect(video).toMatch(/^\/v1\/videos\/vid_/);
    await bridge.end('SIGTERM');
  });

  it('terminates an upload', async () => {
    const { path } = await create(FILE.length);
    await tus.Upload.terminate(`${stack.rest}${path}`, { headers: bearer(ada) });
    expect((await send('HEAD', path)).status).toBe(404);
  });
});

describe('/v1/uploads', () => {
  it('declares the protocol', async () => {
    const { status, headers } = await send('OPTIONS', '/v1/uploads');
    expect([status, headers.get('tus-version'), headers.get('tus-extension')]).toEqual([200, '1.0.0', 'creation,expiration,termination']);
    const old = await send('POST', '/v1/uploads', { headers: { 'tus-resumable': '0.2.2', 'upload-length': '1' } });
    expect([old.status, old.headers.get('tus-version')]).toEqual([412, '1.0.0']);
  });

  it('begins an upload that is described by JSON, and shows how far it is', async () => {
    const { status, headers, body } = await stack.call('POST', '/v1/uploads', { token: ada.token, body: { title: 'JSON', size: 500 } });
    const { id } = body as { id: string };
    expect([status, headers.get('location'), headers.get('upload-offset')]).toEqual([201, `/v1/uploads/${id}`, '0']);
    await append(`/v1/uploads/${id}`, 0, toWebm(200));
    const read = await stack.call('GET', `/v1/uploads/${id}`, { token: ada.token });
    expect(read.body).toMatchObject({ title: 'JSON', size: 500, offset: 200, _links: { append: { method: 'PATCH' } } });
    expect([read.headers.get('cache-control'), read.headers.get('upload-length')]).toEqual(['no-store', '500']);
    await discard(`/v1/uploads/${id}`);
  });

  it('keeps what arrived before the connection broke', async () => {
    const { path } = await create(FILE.length);
    const stop = new AbortController();
    const body = new ReadableStream<Uint8Array>({
      start: (controller) => {
        controller.enqueue(FILE.subarray(0, MIB));
      },
    });
    const sending = fetch(`${stack.rest}${path}`, {
      method: 'PATCH',
      body,
      signal: stop.signal,
      headers: { ...bearer(ada), 'content-type': 'application/offset+octet-stream', 'upload-offset': '0' },
      duplex: 'half',
    });
    await until(async () => (await readdir(join(stack.files, 'content', '.unfinished'))).length === 1);
    stop.abort();
    await expect(sending).rejects.toThrow();
    await until(async () => (await offsetOf(path)) > 0);
    const offset = await offsetOf(path);
    const last = await append(path, offset, FILE.subarray(offset));
    expect([last.status, last.headers.get('upload-offset')]).toEqual([204, String(FILE.length)]);
    const video = await stack.call('GET', last.headers.get('content-location') ?? '', { token: ada.token });
    expect(video.body).toMatchObject({ content: { sha256: SHA256 } });
    // A client that lost the last response asks again.
    expect(await offsetOf(path)).toBe(FILE.length);
    expect((await append(path, FILE.length, Buffer.alloc(0))).status).toBe(409);
  });

  it('lets one of two requests at one offset win', async () => {
    const { path } = await create(2000);
    const both = await Promise.all([1, 2].map(() => append(path, 0, toWebm(1000))));
    expect(both.map(({ status }) => status).sort()).toEqual([204, 409]);
    expect(await offsetOf(path)).toBe(1000);
    const ends = await Promise.all([1, 2].map(() => append(path, 1000, toWebm(1000))));
    expect(ends.map(({ status }) => status).sort()[0]).toBe(204);
    const videos = ends.flatMap(({ headers }) => headers.get('content-location') ?? []);
    expect(new Set(videos).size).toBe(1);
  });

  it('is 404 to everyone but its owner', async () => {
    const { path } = await create(1000);
    for (const [method, headers] of [
      ['HEAD', {}],
      ['DELETE', {}],
      ['PATCH', { 'content-type': 'application/offset+octet-stream', 'upload-offset': '0' }],
    ] as const)
      expect((await send(method, path, { headers: { ...headers, ...bearer(bob) } })).status).toBe(404);
    expect((await fetch(`${stack.rest}${path}`)).status).toBe(401);
    await discard(path);
  });

  it.each([
    ['another offset', (path: string) => append(path, 5, toWebm(100)), 409, 'CONFLICT'],
    ['no offset', (path: string) => appendWith(path, toWebm(100), { 'upload-offset': 'x' }), 400, 'VALIDATION_ERROR'],
    [
      'another media type',
      (path: string) => appendWith(path, toWebm(100), { 'upload-offset': '0', 'content-type': 'video/webm' }),
      415,
      'UNSUPPORTED_MEDIA_TYPE',
    ],
    ['more bytes than were declared', (path: string) => append(path, 0, toWebm(1001)), 413, 'PAYLOAD_TOO_LARGE'],
    [
      'content of another type',
      (path: string) => append(path, 0, Buffer.concat([PNG, Buffer.alloc(1000)]).subarray(0, 1000)),
      415,
      'UNSUPPORTED_MEDIA_TYPE',
    ],
  ])('refuses %s', async (_, act, status, code) => {
    const { path } = await create(1000);
    const sent = await act(path);
    expect([sent.status, sent.code]).toEqual([status, code]);
    await discard(path);
  });

  it('is deleted or continued with If-Match only when it is what the client has read', async () => {
    const { path } = await create(1000);
    const read = async () => (await send('GET', path)).headers.get('etag') ?? '';
    const stale = await read();
    const part = { 'content-type': 'application/offset+octet-stream', 'upload-offset': '0', ...bearer(ada) };
    const patch = (headers: Record<string, string>) =>
      fetch(`${stack.rest}${path}`, { method: 'PATCH', headers: { ...part, ...headers }, body: 'x'.repeat(100) });
    expect((await patch({ 'if-match': '"other"' })).status).toBe(412);
    expect((await patch({ 'if-match': stale })).status).toBe(204);
    const statusOf = async (headers: Record<string, string>) =>
      (await fetch(`${stack.rest}${path}`, { method: 'DELETE', headers: { ...headers, ...bearer(ada) } })).status;
    expect(await statusOf({ 'if-match': stale })).toBe(412);
    expect(await statusOf({ 'if-none-match': '*' })).toBe(412);
    expect(await statusOf({ 'if-match': await read() })).toBe(204);
    expect(await statusOf({ 'if-match': '*' })).toBe(404);
  });

  it('names the type of its parts in a response 415, as in that to OPTIONS', async () => {
    const { path } = await create(1000);
    const headers = { ...bearer(ada), 'content-type': 'text/plain', 'upload-offset': '0' };
    const refused = await fetch(`${stack.rest}${path}`, { method: 'PATCH', headers, body: 'x' });
    const options = await fetch(`${stack.rest}${path}`, { method: 'OPTIONS' });
    const types = [refused, options].map((reply) => reply.headers.get('accept-patch'));
    expect([refused.status, ...types]).toEqual([415, 'application/offset+octet-stream', 'application/offset+octet-stream']);
    await discard(path);
  });

  it('deletes an upload whose content does not have the declared SHA-256', async () => {
    const before = await parts();
    const { path } = await create(1000, { metadata: `title ${toMetadata('x')},sha256 ${toMetadata('0'.repeat(64))}` });
    const sent = await append(path, 0, toWebm(1000));
    expect([sent.status, sent.code]).toEqual([422, 'BUSINESS_RULE_VIOLATION']);
    expect((await send('HEAD', path)).status).toBe(404);
    expect(await parts()).toEqual(before);
  });

  it.each([
    ['a size above the limit', MAX_BYTES + 1, undefined, 413],
    ['a size that no integer holds', 2 ** 31, undefined, 413],
    ['an empty file', 0, undefined, 400],
    ['a title that is not UTF-8', 10, `title ${Buffer.from([0xff]).toString('base64')}`, 400],
    ['no title', 10, 'x eA==', 400],
    ['a SHA-256 that is none', 10, `title ${toMetadata('x')},sha256 ${toMetadata('abc')}`, 400],
    ['metadata that is too long', 10, `title ${'x'.repeat(5000)}`, 400],
  ])('answers a new upload with %s by an error', async (_, size, metadata, status) => {
    expect((await create(size, metadata === undefined ? {} : { metadata })).status).toBe(status);
  });

  it('limits the unfinished uploads of an account, and the bytes of all', async () => {
    const headers = bearer(await stack.createAccount('Carol'));
    const begun = [];
    for (let i = 0; i < 4; i++) begun.push(await create(10, { headers }));
    const fifth = await create(10, { headers });
    expect([begun.map(({ status }) => status), fifth.status, fifth.code]).toEqual([[201, 201, 201, 201], 422, 'BUSINESS_RULE_VIOLATION']);
    for (const { path } of begun) await send('DELETE', path, { headers });
    const large = [];
    for (let i = 0; i < 2; i++) large.push(await create(MAX_BYTES, { headers }));
    large.push(await create(MAX_BYTES, { headers: bearer(bob) }));
    expect(large.map(({ status }) => status)).toEqual([201, 201, 503]);
    expect(large[2]?.code).toBe('SERVICE_UNAVAILABLE');
    for (const { path } of large.slice(0, 2)) await send('DELETE', path, { headers });
  });

  it('creates one upload for two requests with one Idempotency-Key', async () => {
    const headers = { 'idempotency-key': 'begin-1' };
    const [first, second] = [await create(10, { headers }), await create(10, { headers })];
    expect([second.path, second.headers.get('idempotent-replayed')]).toEqual([first.path, 'true']);
    await discard(first.path);
  });

  it('sweeps expired uploads, and the parts that no upload names', async () => {
    const [expired, kept] = [await create(1000), await create(1000)];
    for (const { path } of [expired, kept]) await append(path, 0, toWebm(500));
    await stack.sql('content', `UPDATE video_uploads SET "expiresAt" = now() - interval '1 minute' WHERE id = $1`, [
      expired.path.split('/').at(-1),
    ]);
    expect((await send('HEAD', expired.path)).status).toBe(404);
    const before = await parts();
    const named = async () =>
      (await stack.sql<{ fileKey: string }>('content', 'SELECT "fileKey" FROM video_upload_parts')).map(({ fileKey }) =>
        fileKey.replace('uploads/', ''),
      );
    await stack.kill('content');
    const killed = Date.now();
    await until(() => Promise.resolve(Date.now() - killed > 1200));
    await stack.revive('content');
    await until(
      async () =>
        (await parts()).length < before.length && JSON.stringify((await parts()).sort()) === JSON.stringify((await named()).sort()),
    );
    expect((await append(kept.path, 500, toWebm(500))).status).toBe(204);
  });
});
