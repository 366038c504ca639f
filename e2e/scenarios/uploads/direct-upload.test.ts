/** Files that clients store in S3 themselves (ADR 27), and resumable uploads whose parts are there. */
import { createHash, randomBytes } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import S3rver from 's3rver';
import { until } from '../../stack/clients/client.ts';
import { toWebm } from '../../stack/clients/multipart.ts';
import { type Account, type Stack, startStack } from '../../stack/stack.ts';

const FILE = Buffer.concat([toWebm(100), randomBytes(6 * 1024 * 1024)]);
const SHA256 = createHash('sha256').update(FILE).digest('hex');

let root: string;
let server: S3rver;
let stack: Stack;
let ada: Account;
beforeAll(async () => {
  root = await mkdtemp(`${tmpdir()}/trestle-s3-`);
  server = new S3rver({ port: 0, address: '127.0.0.1', silent: true, directory: root, configureBuckets: [{ name: 'films' }] });
  const { port } = (await server.run()) as AddressInfo;
  const credentials = { S3_ACCESS_KEY_ID: 'S3RVER', S3_SECRET_ACCESS_KEY: 'S3RVER' };
  stack = await startStack({ env: { S3_BUCKET: 'films', S3_ENDPOINT: `http://127.0.0.1:${String(port)}`, ...credentials } });
  ada = await stack.createAccount('Ada');
});
afterAll(async () => {
  await stack.stop();
  await server.close();
  await rm(root, { recursive: true });
});

interface Upload {
  readonly id: string;
  readonly direct: { readonly method: string; readonly url: string; readonly headers: Record<string, string> };
}

async function begin(body: object): Promise<Upload> {
  const reply = await stack.call('POST', '/v1/uploads', { token: ada.token, body: { title: 'Direct', size: FILE.length, ...body } });
  expect(reply.status).toBe(201);
  return reply.body as Upload;
}

/** Sends the file as the upload says, without a credential. `fetch` sets the length itself. */
const put = async ({ direct }: Upload, file: Buffer = FILE) =>
  (await fetch(direct.url, { method: direct.method, body: Uint8Array.from(file) })).status;
const complete = (id: string, token = ada.token) => stack.call('POST', `/v1/uploads/${id}/completion`, { token });
const codeOf = ({ body }: { body: unknown }) => (body as { error: { code: string } }).error.code;

describe('POST /v1/uploads/{id}/completion', () => {
  it('creates the video of a file that the client has stored in S3, once', async () => {
    const upload = await begin({ sha256: SHA256 });
    expect(upload.direct).toMatchObject({ method: 'PUT', headers: { 'content-length': String(FILE.length) } });
    expect(await put(upload)).toBe(200);
    const both = await Promise.all([complete(upload.id), complete(upload.id)]);
    const locations = [...both, await complete(upload.id)].map(({ status, headers }) => [status, headers.get('location')]);
    const path = locations[0]?.[1] as string;
    expect(locations).toEqual([1, 2, 3].map(() => [201, path]));
    const video = await stack.call('GET', path, { token: ada.token });
    expect(video.body).toMatchObject({ title: 'Direct', content: { size: FILE.length, sha256: SHA256, mediaType: 'video/webm' } });
    const read = await stack.call('GET', `/v1/uploads/${upload.id}`, { token: ada.token });
    expect(read.body).toMatchObject({ offset: FILE.length, direct: null, _links: { video: { href: path } } });
    // The signed address is still valid, and cannot replace the content.
    await put(upload, Buffer.from('other'));
    const content = await fetch(`${stack.rest}${path}/content`, { headers: { authorization: `Bearer ${ada.token}` } });
    expect(Buffer.from(await content.arrayBuffer()).equals(FILE)).toBe(true);
  });

  it('answers 422 before the content is stored, and 404 to other accounts', async () => {
    const { id } = await begin({});
    const early = await complete(id);
    expect([early.status, codeOf(early)]).toEqual([422, 'BUSINESS_RULE_VIOLATION']);
    const bob = await stack.createAccount('Bob');
    expect((await complete(id, bob.token)).status).toBe(404);
    expect((await stack.call('DELETE', `/v1/uploads/${id}`, { token: ada.token })).status).toBe(204);
  });

  it('completes an upload with If-Match only when it is what the client has read', async () => {
    const upload = await begin({});
    expect(await put(upload)).toBe(200);
    const path = `/v1/uploads/${upload.id}`;
    const completeWith = (headers: Record<string, string>) => stack.call('POST', `${path}/completion`, { token: ada.token, headers });
    const stale = await completeWith({ 'if-match': '"other"' });
    expect([stale.status, codeOf(stale)]).toEqual([412, 'PRECONDITION_FAILED']);
    expect((await completeWith({ 'if-none-match': '*' })).status).toBe(412);
    const read = async () => (await stack.call('GET', path, { token: ada.token })).headers.get('etag') ?? '';
    const tag = await read();
    const readAt = Math.floor(Date.now() / 1000);
    // An address that were signed at each read would be another one in the next second.
    await until(() => Promise.resolve(Math.floor(Date.now() / 1000) > readAt));
    expect(await read()).toBe(tag);
    expect((await completeWith({ 'if-match': tag })).status).toBe(201);
    expect((await completeWith({ 'if-match': tag })).status).toBe(412);
    expect((await completeWith({ 'if-match': await read() })).status).toBe(201);
  });

  it('deletes an upload whose content is not the declared one', async () => {
    const upload = await begin({ sha256: 'a'.repeat(64) });
    expect(await put(upload)).toBe(200);
    const refused = await complete(upload.id);
    expect([refused.status, codeOf(refused)]).toEqual([422, 'BUSINESS_RULE_VIOLATION']);
    expect((await stack.call('GET', `/v1/uploads/${upload.id}`, { token: ada.token })).status).toBe(404);
  });
});

describe('PATCH /v1/uploads/{id}', () => {
  it('keeps its parts in S3', async () => {
    const { id } = await begin({ sha256: SHA256 });
    const append = (start: number, end: number) =>
      fetch(`${stack.rest}/v1/uploads/${id}`, {
        method: 'PATCH',
        headers: {
          authorization: `Bearer ${ada.token}`,
          'content-type': 'application/offset+octet-stream',
          'upload-offset': String(start),
        },
        body: Uint8Array.from(FILE.subarray(start, end)),
      });
    expect((await append(0, 5_000_000)).headers.get('upload-offset')).toBe('5000000');
    expect((await complete(id)).status).toBe(409);
    const last = await append(5_000_000, FILE.length);
    expect([last.status, last.headers.get('content-location')]).toEqual([204, expect.stringMatching(/^\/v1\/videos\/vid_/)]);
  });
});
