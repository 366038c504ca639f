/** Files in GraphQL requests, from the client through the gateway to the subgraph's store. */
import { createHash } from 'node:crypto';
import { readFile, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { until } from '../../stack/clients/client.ts';
import { type LeasedStack, SPECIAL_SETTINGS, leaseStack } from '../../stack/leased-stack.ts';
import { PNG, type UploadRequest, sendFiles, toWebm } from '../../stack/clients/multipart.ts';
import type { Account } from '../../stack/stack.ts';

const UPLOAD =
  'mutation Upload($title: String!, $file: Upload!) { uploadVideo(title: $title, file: $file) { id status owner { name } content { mediaType size sha256 } } }';
const AVATAR = 'mutation Picture($file: Upload!) { setAvatar(file: $file) { id version avatar { mediaType size sha256 href } } }';

let stack: LeasedStack;
let ada: Account;
beforeAll(async () => {
  stack = await leaseStack({ env: SPECIAL_SETTINGS });
  ada = await stack.createAccount('Ada');
});
afterAll(() => stack.stop());

interface Options extends Partial<UploadRequest> {
  readonly gateway?: string;
  readonly title?: string;
}
const upload = (file: Buffer, { gateway = stack.gateway, title = 'A bridge', ...more }: Options = {}) =>
  sendFiles(gateway, { query: UPLOAD, variables: { title, file: null }, files: { file }, token: ada.token, ...more });
const codeOf = ({ body: { errors } }: Awaited<ReturnType<typeof upload>>) => errors?.[0]?.extensions['code'];
/** Returns the files of the content subgraph. */
const stored = async () => (await readdir(join(stack.files, 'content', 'videos')).catch(() => [])).sort();
/** Waits until each file of the content subgraph is one that a video names. A file that was not kept is deleted after its response. */
const untilClean = () =>
  until(async () => {
    const rows = await stack.sql<{ fileKey: string }>('content', 'SELECT "fileKey" FROM videos');
    const named = rows.map(({ fileKey }) => fileKey.replace('videos/', '')).sort();
    return JSON.stringify(await stored()) === JSON.stringify(named) && (await unfinished()).length === 0;
  });
const unfinished = () => readdir(join(stack.files, 'content', '.unfinished')).catch(() => []);

describe('uploadVideo', () => {
  it('stores the file, its type by its content, and its checksum', async () => {
    const file = toWebm(2_500_000);
    const { status, body } = await upload(file);
    expect([status, body]).toEqual([
      200,
      {
        data: {
          uploadVideo: {
            id: expect.stringMatching(/^vid_/),
            status: 'UPLOADED',
            owner: { name: 'Ada' },
            content: { mediaType: 'video/webm', size: file.length, sha256: createHash('sha256').update(file).digest('hex') },
          },
        },
      },
    ]);
    const [row] = await stack.sql<{ fileKey: string }>('content', 'SELECT "fileKey" FROM videos WHERE title = $1', ['A bridge']);
    expect((await readFile(join(stack.files, 'content', row?.fileKey ?? ''))).equals(file)).toBe(true);
  });

  it('replays the result of a request that is sent twice with one Idempotency-Key, and stores one file', async () => {
    const send = () => upload(toWebm(1000), { title: 'Twice', headers: { 'idempotency-key': 'upload-1' } });
    const [first, second] = [await send(), await send()];
    expect(second.body).toEqual(first.body);
    expect(second.headers.get('idempotent-replayed')).toBe('true');
    await untilClean();
    const other = await upload(toWebm(1001), { title: 'Twice', headers: { 'idempotency-key': 'upload-1' } });
    expect(codeOf(other)).toBe('BUSINESS_RULE_VIOLATION');
  });

  it.each([
    ['a file that is too large', () => upload(toWebm(3_000_001)), 'PAYLOAD_TOO_LARGE'],
    ['a request that is too large as a whole', () => upload(toWebm(6_000_000)), 'PAYLOAD_TOO_LARGE'],
    ['a file of another type', () => upload(PNG), 'UNSUPPORTED_MEDIA_TYPE'],
    ['an empty file', () => upload(Buffer.alloc(0)), 'UNSUPPORTED_MEDIA_TYPE'],
    ['an invalid title', () => upload(toWebm(100), { title: '' }), 'VALIDATION_ERROR'],
    ['no credential', () => upload(toWebm(100), { token: undefined }), 'FORBIDDEN'],
    ['an invalid credential', () => upload(toWebm(100), { token: 'x' }), 'UNAUTHORIZED'],
    ['a map with a file that is missing', () => upload(toWebm(100), { files: {}, map: { file: ['variables.file'] } }), 'VALIDATION_ERROR'],
    ['a map with a path that does not exist', () => upload(toWebm(100), { map: { file: ['variables.other'] } }), 'VALIDATION_ERROR'],
  ])('answers with a coded error, and stores nothing, for %s', async (_, send, code) => {
    const [before] = await stack.sql('content', 'SELECT count(*) FROM videos');
    expect(codeOf(await send())).toBe(code);
    await untilClean();
    expect(await stack.sql('content', 'SELECT count(*) FROM videos')).toEqual([before]);
  });

  it('refuses an anonymous caller with a preflighted header, before the files are read', async () => {
    const reply = await upload(toWebm(1_000_000), { token: undefined, headers: { 'apollo-require-preflight': '1' } });
    expect(codeOf(reply)).toBe('UNAUTHORIZED');
  });

  it('refuses a file that is sent as a string', async () => {
    const { errors } = await stack.graphql(UPLOAD, { variables: { title: 'x', file: 'y' }, token: ada.token });
    expect(errors[0]?.extensions['code']).toBe('VALIDATION_ERROR');
  });

  it('keeps nothing of a client that disconnects in the middle', async () => {
    const stop = new AbortController();
    let sent = 0;
    const body = new ReadableStream<Uint8Array>({
      pull(controller) {
        const parts = [
          `--b\r\nContent-Disposition: form-data; name="operations"\r\n\r\n${JSON.stringify({ query: UPLOAD, variables: { title: 'x', file: null } })}\r\n`,
          '--b\r\nContent-Disposition: form-data; name="map"\r\n\r\n{"0":["variables.file"]}\r\n',
          '--b\r\nContent-Disposition: form-data; name="0"; filename="a"\r\n\r\n',
        ];
        if (sent === 0) controller.enqueue(Buffer.from(parts.join('')));
        if (sent++ < 10) controller.enqueue(toWebm(100_000));
      },
    });
    const sending = fetch(`${stack.gateway}/graphql`, {
      method: 'POST',
      body,
      signal: stop.signal,
      headers: { 'content-type': 'multipart/form-data; boundary=b', authorization: `Bearer ${ada.token}` },
      duplex: 'half',
    });
    await until(async () => (await unfinished()).length === 1);
    stop.abort();
    await expect(sending).rejects.toThrow();
    await untilClean();
  });
});

describe('setAvatar', () => {
  it('stores the picture, and replaces the one before', async () => {
    const send = (file: Buffer) =>
      sendFiles(stack.gateway, { query: AVATAR, variables: { file: null }, files: { file }, token: ada.token });
    const first = await send(PNG);
    expect(first.body.data).toEqual({
      setAvatar: {
        id: ada.id,
        version: 2,
        avatar: { mediaType: 'image/png', size: PNG.length, sha256: expect.any(String), href: `/v1/users/${ada.id}/avatar` },
      },
    });
    expect(codeOf(await send(Buffer.alloc(6 * 1024 * 1024, 'x')))).toBe('PAYLOAD_TOO_LARGE');
    expect(codeOf(await send(toWebm(1000)))).toBe('UNSUPPORTED_MEDIA_TYPE');
    const { data } = await stack.graphql<{ removeAvatar: unknown }>('mutation { removeAvatar { avatar { size } } }', { token: ada.token });
    expect(data).toEqual({ removeAvatar: { avatar: null } });
  });
});

describe('files for several subgraphs', () => {
  const both = 'mutation Both($a: Upload!, $b: Upload!) { setAvatar(file: $a) { id } uploadVideo(title: "x", file: $b) { id } }';

  it('are refused before any of them is stored', async () => {
    const reply = await sendFiles(stack.gateway, {
      query: both,
      variables: { a: null, b: null },
      files: { a: PNG, b: toWebm(100) },
      token: ada.token,
    });
    expect(reply.body.errors?.[0]).toMatchObject({
      message: expect.stringContaining('one subgraph'),
      extensions: { code: 'VALIDATION_ERROR' },
    });
  });

  it('can go to one subgraph in one request, and one file can be used twice', async () => {
    const query =
      'mutation Two($a: Upload!, $b: Upload!) { a: uploadVideo(title: "a", file: $a) { id } b: uploadVideo(title: "b", file: $b) { content { size } } }';
    const reply = await sendFiles(stack.gateway, {
      query,
      variables: { a: null, b: null },
      files: { a: toWebm(100), b: toWebm(200) },
      token: ada.token,
    });
    expect(reply.body.data).toMatchObject({ b: { content: { size: 200 } } });
  });
});

describe('other gateways', () => {
  it.each([{ GATEWAY_ENGINE: 'apollo' }, { UPSTREAM_CLIENT: 'undici' }, { EXECUTOR: 'bytes' }])('receive files with %j', async (env) => {
    const gateway = await stack.startGateway(env);
    const reply = await upload(toWebm(400_000), { gateway: gateway.url });
    expect(reply.body).toMatchObject({ data: { uploadVideo: { content: { size: 400_000 } } } });
    expect(codeOf(await upload(toWebm(3_000_001), { gateway: gateway.url }))).toBe('PAYLOAD_TOO_LARGE');
    await gateway.end('SIGTERM');
  });
});
