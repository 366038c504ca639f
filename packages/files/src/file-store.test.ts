/** The contract of every store: in a directory, and in S3 by HTTP. */
import { createHash, randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import S3rver from 's3rver';
import type { FileStore } from './file-store.ts';
import { createS3Store } from './s3-store.ts';
import { openFileStore } from './settings.ts';
import { sweepFiles } from './sweep-files.ts';

const MIB = 1024 * 1024;
const LIMITS = { maxBytes: 20 * MIB };
/** More than the SDK for S3 has connections to a server by default. */
const SLOW_READERS = 60;
/** A store that is opened for one test. */
interface Opened {
  readonly files: FileStore;
  readonly close: () => Promise<void>;
}

const openers: Record<string, () => Promise<Opened>> = {
  async directory() {
    const root = await mkdtemp(join(tmpdir(), 'trestle-files-'));
    const files = await openFileStore({ FILES_DIR: root, S3_REGION: 'us-east-1' }, 'content');
    return { files, close: () => rm(root, { recursive: true }) };
  },
  async S3() {
    const root = await mkdtemp(join(tmpdir(), 'trestle-s3-'));
    const server = new S3rver({ port: 0, address: '127.0.0.1', silent: true, directory: root, configureBuckets: [{ name: 'files' }] });
    const { port } = (await server.run()) as AddressInfo;
    const files = await openFileStore(
      {
        FILES_DIR: root,
        S3_BUCKET: 'files',
        S3_REGION: 'us-east-1',
        S3_ENDPOINT: `http://127.0.0.1:${String(port)}`,
        S3_ACCESS_KEY_ID: 'S3RVER',
        S3_SECRET_ACCESS_KEY: 'S3RVER',
      },
      'content',
    );
    const close = async () => {
      files.close();
      await server.close();
      await rm(root, { recursive: true });
    };
    return { files, close };
  },
};

async function* chunksOf(bytes: Uint8Array, size = 64 * 1024): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < bytes.length; at += size) {
    await new Promise(setImmediate);
    yield bytes.subarray(at, at + size);
  }
}

async function read(files: FileStore, key: string, range?: { start: number; end: number }): Promise<Buffer | undefined> {
  const stream = await files.open(key, range);
  return stream && buffer(stream);
}

async function keysOf(files: FileStore, prefix = ''): Promise<string[]> {
  const keys = [];
  for await (const { key } of files.list(prefix)) keys.push(key);
  return keys.sort();
}

describe.each(Object.entries(openers))('a file store in %s', (name, open) => {
  let store: Opened;
  beforeEach(async () => {
    store = await open();
  });
  afterEach(() => store.close());

  it.each([0, 1, 300_000, 11 * MIB])('returns the %d bytes that were stored, their size and their SHA-256', async (size) => {
    const bytes = randomBytes(size);
    const stored = await store.files.put('videos/one', chunksOf(bytes), LIMITS);
    expect(stored).toEqual({ key: 'videos/one', size, sha256: createHash('sha256').update(bytes).digest('hex') });
    expect((await read(store.files, 'videos/one'))?.equals(bytes)).toBe(true);
    const stat = await store.files.stat('videos/one');
    expect(stat).toMatchObject({ key: 'videos/one', size });
    expect(Math.abs(Date.now() - Number(stat?.modifiedAt))).toBeLessThan(60_000);
  });

  it('returns exactly the bytes of a range', async () => {
    const bytes = randomBytes(100_000);
    await store.files.put('a', chunksOf(bytes), LIMITS);
    for (const range of [
      { start: 0, end: 1 },
      { start: 99_999, end: 99_999 },
      { start: 10, end: 70_000 },
    ])
      expect((await read(store.files, 'a', range))?.equals(bytes.subarray(range.start, range.end + 1))).toBe(true);
  });

  it('reads and stores files while many others are read slowly', async () => {
    await store.files.put('long', chunksOf(randomBytes(11 * MIB)), LIMITS);
    const slow = await Promise.all(Array.from({ length: SLOW_READERS }, () => store.files.open('long')));
    await store.files.put('a', chunksOf(Buffer.from('new')), LIMITS);
    expect(String(await read(store.files, 'a'))).toBe('new');
    for (const each of slow) each?.destroy();
  });

  it('returns undefined for a file that does not exist, and deletes it without an error', async () => {
    expect(await store.files.open('none')).toBeUndefined();
    expect(await store.files.stat('none')).toBeUndefined();
    await store.files.delete('none');
  });

  it('stores nothing when the content exceeds the limit', async () => {
    const putting = store.files.put('big', chunksOf(randomBytes(7 * MIB)), { maxBytes: 7 * MIB - 1 });
    await expect(putting).rejects.toMatchObject({ code: 'PAYLOAD_TOO_LARGE' });
    expect(await keysOf(store.files)).toEqual([]);
    expect(await store.files.stat('big')).toBeUndefined();
  });

  it('stores nothing, and keeps the old file, when the content ends with an error', async () => {
    await store.files.put('a', chunksOf(Buffer.from('old')), LIMITS);
    async function* broken() {
      yield* chunksOf(randomBytes(6 * MIB));
      throw new Error('The client is gone');
    }
    await expect(store.files.put('a', broken(), LIMITS)).rejects.toThrow('The client is gone');
    expect(String(await read(store.files, 'a'))).toBe('old');
  });

  it('stores nothing when it is aborted while the content stalls', async () => {
    const stop = new AbortController();
    async function* stalled() {
      yield randomBytes(10);
      stop.abort();
      await new Promise(() => undefined);
    }
    await expect(store.files.put('a', stalled(), { ...LIMITS, signal: stop.signal })).rejects.toThrow();
    expect(await keysOf(store.files)).toEqual([]);
  });

  it('shows nothing under the key before all content was stored', async () => {
    let seen: unknown = 'not looked';
    async function* content() {
      yield* chunksOf(randomBytes(6 * MIB));
      seen = [await store.files.stat('a'), await keysOf(store.files)];
    }
    await store.files.put('a', content(), LIMITS);
    expect(seen).toEqual([undefined, []]);
    expect(await keysOf(store.files)).toEqual(['a']);
  });

  it('lists the files of a prefix', async () => {
    for (const key of ['videos/a', 'videos/b', 'avatars/c']) await store.files.put(key, chunksOf(Buffer.from(key)), LIMITS);
    expect(await keysOf(store.files, 'videos/')).toEqual(['videos/a', 'videos/b']);
    expect(await keysOf(store.files)).toEqual(['avatars/c', 'videos/a', 'videos/b']);
  });

  it.each(['', '/a', '../a', 'a/../b', 'a//b', '.unfinished/a', 'a b', 'a\0', 'x'.repeat(201)])('refuses the key %j', async (key) => {
    await expect((async () => store.files.put(key, chunksOf(Buffer.from('x')), LIMITS))()).rejects.toThrow('Invalid key');
  });

  it('sweeps the files that no row names and that are old enough', async () => {
    for (const key of ['videos/used', 'videos/orphan', 'avatars/other']) await store.files.put(key, chunksOf(Buffer.from(key)), LIMITS);
    const findUsed = (keys: readonly string[]) => Promise.resolve(new Set(keys.filter((key) => key === 'videos/used')));
    const sweep = (before: Date) => sweepFiles({ files: store.files, prefix: 'videos/', findUsed, before });
    expect(await sweep(new Date(Date.now() - 60_000))).toBe(0);
    expect(await sweep(new Date(Date.now() + 60_000))).toBe(1);
    expect(await keysOf(store.files)).toEqual(['avatars/other', 'videos/used']);
  });

  if (name === 'S3')
    it('lets a client store a file of the declared size by a signed request', async () => {
      const signed = await store.files.presignPut?.('direct', { size: 5, signedAt: new Date(), expiresInSeconds: 60 });
      if (!signed) throw new Error('not signed');
      expect(new URL(signed.url).searchParams.get('X-Amz-SignedHeaders')).toContain('content-length');
      expect((await fetch(signed.url, { method: signed.method, body: 'hello' })).status).toBe(200);
      expect(String(await read(store.files, 'direct'))).toBe('hello');
    });
});

describe('a file store in S3', () => {
  it('sweeps files though another process has ended an upload in parts since they were listed', async () => {
    const key = 'content/videos/one';
    const answers: Record<string, string> = {
      'GET uploads': `<ListMultipartUploadsResult><Upload><Key>${key}</Key><UploadId>1</UploadId></Upload></ListMultipartUploadsResult>`,
      'GET list': `<ListBucketResult><Contents><Key>${key}</Key><Size>1</Size></Contents></ListBucketResult>`,
    };
    const requests: string[] = [];
    const server = createServer((request, response) => {
      const { searchParams } = new URL(request.url ?? '', 'http://s3');
      const what = `${request.method ?? ''} ${['uploads', 'uploadId'].find((name) => searchParams.has(name)) ?? 'list'}`;
      requests.push(what);
      const status = what === 'DELETE uploadId' ? 404 : 200;
      response.writeHead(status).end(answers[what] ?? (status === 404 ? '<Error><Code>NoSuchUpload</Code></Error>' : ''));
    }).listen(0, '127.0.0.1');
    await once(server, 'listening');
    const endpoint = `http://127.0.0.1:${String((server.address() as AddressInfo).port)}`;
    const credentials = { accessKeyId: 'a', secretAccessKey: 'b' };
    const files = createS3Store({ bucket: 'files', region: 'us-east-1', endpoint, credentials, prefix: 'content/' });
    try {
      const findUsed = () => Promise.resolve(new Set<string>());
      expect(await sweepFiles({ files, prefix: 'videos/', findUsed, before: new Date() })).toBe(1);
      expect(requests).toEqual(['GET uploads', 'DELETE uploadId', 'GET list', 'DELETE list']);
    } finally {
      files.close();
      server.close();
    }
  });
});

describe('a file store in a directory', () => {
  it('closes the file when a range of it is not valid', async () => {
    const root = await mkdtemp(join(tmpdir(), 'trestle-files-'));
    const files = await openFileStore({ FILES_DIR: root, S3_REGION: 'us-east-1' }, 'content');
    await files.put('empty', chunksOf(Buffer.alloc(0)), LIMITS);
    const countOpen = async () => (await readdir('/proc/self/fd')).length;
    const before = await countOpen();
    for (let i = 0; i < 20; i++) await expect(files.open('empty', { start: 0, end: -1 })).rejects.toThrow('range');
    expect(await countOpen()).toBeLessThan(before + 10);
    await rm(root, { recursive: true });
  });

  it('removes what killed processes have left unfinished, and nothing that is being written', async () => {
    const root = await mkdtemp(join(tmpdir(), 'trestle-files-'));
    const files = await openFileStore({ FILES_DIR: root, S3_REGION: 'us-east-1' }, 'content');
    const unfinished = () => readdir(join(root, 'content', '.unfinished'));
    async function* content() {
      yield Buffer.from('x');
      await files.removeUnfinished(new Date(Date.now() - 60_000));
      expect(await unfinished()).toHaveLength(1);
      await files.removeUnfinished(new Date(Date.now() + 60_000));
      expect(await unfinished()).toEqual([]);
    }
    // What is removed while it is written cannot be stored.
    await expect(files.put('a', content(), LIMITS)).rejects.toThrow('ENOENT');
    await rm(root, { recursive: true });
  });
});
