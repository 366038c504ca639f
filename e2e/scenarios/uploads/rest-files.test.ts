/** Files by REST: uploads, and content with ranges, conditions and visibility. */
import { createHash } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type LeasedStack, SPECIAL_SETTINGS, leaseStack } from '../../stack/leased-stack.ts';
import { PNG, sendFiles, sendForm, toWebm } from '../../stack/clients/multipart.ts';
import type { Account } from '../../stack/stack.ts';

const SIZE = 500_000;
const FILE = toWebm(SIZE);
const MAX_BYTES = Number(SPECIAL_SETTINGS.MAX_UPLOAD_BYTES);

let stack: LeasedStack;
let ada: Account;
let bob: Account;
beforeAll(async () => {
  stack = await leaseStack({ env: SPECIAL_SETTINGS });
  [ada, bob] = [await stack.createAccount('Ada'), await stack.createAccount('Bob')];
});
afterAll(() => stack.stop());

interface Created {
  readonly id: string;
  readonly error?: { readonly code: string };
}

const bearer = ({ token }: Account) => ({ authorization: `Bearer ${token}` });
const send = async (body: Buffer, headers: Record<string, string>, search = '?title=Raw') => {
  const response = await fetch(`${stack.rest}/v1/videos${search}`, { method: 'POST', body: Uint8Array.from(body), headers });
  return { status: response.status, headers: response.headers, body: (await response.json()) as Created };
};
const upload = async () => (await send(FILE, { 'content-type': 'video/webm', ...bearer(ada) })).body.id;
const get = async (id: string, headers: Record<string, string> = bearer(ada), method = 'GET') => {
  const response = await fetch(`${stack.rest}/v1/videos/${id}/content`, { method, headers });
  return { status: response.status, headers: response.headers, bytes: Buffer.from(await response.arrayBuffer()) };
};

describe('POST /v1/videos', () => {
  it('stores a raw body', async () => {
    const { status, headers, body } = await send(FILE, { 'content-type': 'video/webm', ...bearer(ada) });
    const content = { mediaType: 'video/webm', size: SIZE, sha256: createHash('sha256').update(FILE).digest('hex') };
    expect([status, body]).toMatchObject([201, { title: 'Raw', status: 'uploaded', content }]);
    expect(headers.get('location')).toBe(`/v1/videos/${body.id}`);
  });

  it('stores a raw body whose media type has parameters, as those that MediaRecorder records', async () => {
    const { status, body } = await send(FILE, { 'content-type': 'video/webm;codecs="vp8,opus"', ...bearer(ada) });
    expect([status, body]).toMatchObject([201, { content: { mediaType: 'video/webm', size: SIZE } }]);
  });

  it('answers 415 with the types of Accept-Post that OPTIONS names, and with the coding where that is at fault', async () => {
    const options = await stack.call('OPTIONS', '/v1/videos');
    const types = options.headers.get('accept-post');
    expect(types).toBe('multipart/form-data, video/*');
    const refused = async (headers: Record<string, string>, body = FILE) => {
      const reply = await send(body, { ...headers, ...bearer(ada) });
      return [reply.status, reply.headers.get('accept-post'), reply.headers.get('accept-encoding')];
    };
    expect(await refused({ 'content-type': 'text/plain' })).toEqual([415, types, null]);
    expect(await refused({ 'content-type': 'video/webm' }, PNG)).toEqual([415, types, null]);
    expect(await refused({ 'content-type': 'video/webm', 'content-encoding': 'gzip' })).toEqual([415, types, 'identity']);
  });

  it('stores the file of a form', async () => {
    const form = new FormData();
    form.set('title', 'By form');
    form.set('file', new Blob([Uint8Array.from(FILE)]), 'bridge.webm');
    const { status, body } = await sendForm(`${stack.rest}/v1/videos`, form, bearer(ada));
    expect([status, body]).toMatchObject([201, { title: 'By form', content: { size: SIZE } }]);
  });

  it.each([
    ['another media type', 415, 'UNSUPPORTED_MEDIA_TYPE', FILE, { 'content-type': 'application/json' }],
    ['content that is no video', 415, 'UNSUPPORTED_MEDIA_TYPE', PNG, { 'content-type': 'video/webm' }],
    ['a file that is too large', 413, 'PAYLOAD_TOO_LARGE', toWebm(MAX_BYTES + 1), { 'content-type': 'video/webm' }],
    ['a form without a boundary', 400, 'VALIDATION_ERROR', FILE, { 'content-type': 'multipart/form-data' }],
    ['a form that is none', 400, 'VALIDATION_ERROR', FILE, { 'content-type': 'multipart/form-data; boundary=b' }],
  ])('refuses %s', async (_, status, code, file, headers) => {
    const reply = await send(file, { ...headers, ...bearer(ada) });
    expect([reply.status, reply.body.error?.code]).toEqual([status, code]);
  });

  it('refuses a raw body without a title, and an anonymous caller', async () => {
    expect((await send(FILE, { 'content-type': 'video/webm', ...bearer(ada) }, '')).status).toBe(400);
    expect((await send(FILE, { 'content-type': 'video/webm' })).status).toBe(401);
  });

  it('replays the response of an Idempotency-Key', async () => {
    const headers = { 'content-type': 'video/webm', 'idempotency-key': 'rest-1', ...bearer(ada) };
    const [first, second] = [await send(FILE, headers), await send(FILE, headers)];
    expect([second.status, second.body, second.headers.get('idempotent-replayed')]).toEqual([201, first.body, 'true']);
  });
});

describe('GET /v1/videos/{id}/content', () => {
  let id: string;
  beforeAll(async () => {
    id = await upload();
  });

  it('returns the bytes, by which nothing runs in a browser', async () => {
    const { status, headers, bytes } = await get(id);
    expect([status, bytes.equals(FILE)]).toEqual([200, true]);
    expect(Object.fromEntries(headers)).toMatchObject({
      'content-type': 'video/webm',
      'content-length': String(SIZE),
      'accept-ranges': 'bytes',
      'content-disposition': `inline; filename="Raw.webm"; filename*=UTF-8''Raw.webm`,
      'content-security-policy': expect.stringContaining('sandbox'),
      'x-content-type-options': 'nosniff',
      'cache-control': 'private, no-cache',
      etag: expect.stringMatching(/^"[0-9a-f]{32}"$/),
    });
  });

  it.each(['fields', 'include'])('answers 400 to %s, because a file has none', async (parameter) => {
    const { status, body } = await stack.call('GET', `/v1/videos/${id}/content?${parameter}=id`, { token: ada.token });
    expect([status, body]).toMatchObject([400, { error: { details: [{ field: parameter }] } }]);
  });

  it('answers HEAD with the headers only', async () => {
    const { status, headers, bytes } = await get(id, bearer(ada), 'HEAD');
    expect([status, headers.get('content-length'), bytes.length]).toEqual([200, String(SIZE), 0]);
  });

  it.each([
    ['bytes=0-0', 0, 0],
    ['bytes=100-', 100, SIZE - 1],
    ['bytes=-100', SIZE - 100, SIZE - 1],
    ['bytes=10-9999999', 10, SIZE - 1],
  ])('returns the range %s', async (range, start, end) => {
    const { status, headers, bytes } = await get(id, { range, ...bearer(ada) });
    expect([status, headers.get('content-range')]).toEqual([206, `bytes ${String(start)}-${String(end)}/${String(SIZE)}`]);
    expect(bytes.equals(FILE.subarray(start, end + 1))).toBe(true);
  });

  it('returns several ranges as multipart/byteranges', async () => {
    const { status, headers, bytes } = await get(id, { range: 'bytes=0-4,100-109,-3', ...bearer(ada) });
    const boundary = /boundary=(\S+)/.exec(headers.get('content-type') ?? '')?.[1] ?? '';
    const part = (start: number, end: number) =>
      `\r\n--${boundary}\r\nContent-Type: video/webm\r\nContent-Range: bytes ${String(start)}-${String(end)}/${String(SIZE)}\r\n\r\n${FILE.toString('latin1', start, end + 1)}`;
    const expected = `${part(0, 4)}${part(100, 109)}${part(SIZE - 3, SIZE - 1)}\r\n--${boundary}--\r\n`;
    expect([status, bytes.toString('latin1'), headers.get('content-length')]).toEqual([206, expected, String(expected.length)]);
  });

  it('answers 416 with the size for a range outside of the content', async () => {
    const { status, headers } = await get(id, { range: `bytes=${String(SIZE)}-`, ...bearer(ada) });
    expect([status, headers.get('content-range')]).toEqual([416, `bytes */${String(SIZE)}`]);
  });

  it('evaluates If-None-Match, If-Match and If-Range', async () => {
    const etag = (await get(id)).headers.get('etag') ?? '';
    const statusOf = async (headers: Record<string, string>) => (await get(id, { ...headers, ...bearer(ada) })).status;
    expect(await statusOf({ 'if-none-match': etag })).toBe(304);
    expect(await statusOf({ 'if-match': '"other"' })).toBe(412);
    expect(await statusOf({ range: 'bytes=0-9', 'if-range': etag })).toBe(206);
    expect(await statusOf({ range: 'bytes=0-9', 'if-range': '"other"' })).toBe(200);
  });

  it('is hidden until the video is published', async () => {
    expect([(await get(id, bearer(bob))).status, (await get(id, {})).status]).toEqual([404, 404]);
    const admin = await stack.createAccount('Admin', 'ADMIN');
    expect((await get(id, bearer(admin))).status).toBe(200);
    await stack.sql('content', `UPDATE videos SET status = 'PUBLISHED' WHERE id = $1`, [id]);
    const { status, headers } = await get(id, {});
    expect([status, headers.get('cache-control')]).toEqual([200, 'public, max-age=0, must-revalidate']);
  });

  it('answers 410 after the video was deleted, and 404 for one that never existed or has no content', async () => {
    const own = await upload();
    await stack.call('DELETE', `/v1/videos/${own}`, { token: ada.token });
    expect((await get(own)).status).toBe(410);
    expect((await get('vid_01jkg0tqg0xws8gt4k39x3ab7m')).status).toBe(404);
  });

  it('is not served by the subgraph without a ticket', async () => {
    const path = `/files/videos/${id}/${createHash('sha256').update(FILE).digest('hex')}`;
    const url = `${stack.subgraphs.content.url}${path}`;
    expect((await fetch(url)).status).toBe(404);
    expect((await fetch(url, { headers: bearer(ada) })).status).toBe(404);
  });
});

describe('GET /v1/users/{id}/avatar', () => {
  it('returns the picture with its entity tag', async () => {
    const url = `${stack.rest}/v1/users/${ada.id}/avatar`;
    expect((await fetch(url)).status).toBe(404);
    const query = 'mutation ($file: Upload!) { setAvatar(file: $file) { id } }';
    await sendFiles(stack.gateway, { query, variables: { file: null }, files: { file: PNG }, token: ada.token });
    const response = await fetch(url);
    expect([response.status, response.headers.get('content-type')]).toEqual([200, 'image/png']);
    expect(Buffer.from(await response.arrayBuffer()).equals(PNG)).toBe(true);
    expect((await fetch(url, { headers: { 'if-none-match': response.headers.get('etag') ?? '' } })).status).toBe(304);
  });
});
