/** The completion of uploads, on a real database and a directory: requests that another one has overtaken. */
import { createHash } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { openTestDatabase } from '@trestle/chassis/database/test-database';
import { createIds } from '@trestle/chassis/values/ids';
import { createLocalStore } from '@trestle/files/local-store';
import { createTestDatabase } from '@trestle/postgres/test-database';
import { Registry } from 'prom-client';
import { openContentStores } from '../stores.ts';
import { completeDirectUpload, completeUpload } from './complete-upload.ts';
import { receiveParts } from './receive-parts.ts';
import { UPLOAD_FILES, type VideoUpload } from './rules.ts';
import type { UploadParts } from './upload-parts.ts';

const LIMITS = { maxBytes: 10_000, perAccount: 100, totalBytes: 1_000_000, expireAfterSeconds: 3600 };
/** The head of a WebM file, and more. */
const FILE = Buffer.concat([Buffer.from('1a45dfa3a34286810142f7810142f2810442f381084282847765626d', 'hex'), Buffer.alloc(1000, 1)]);
const HALF = 500;

let parts: UploadParts;
let close: () => Promise<void>;
/** How far the clock of the process is ahead of that of the database. */
let aheadMs = 0;
beforeAll(async () => {
  const testDatabase = await createTestDatabase({ subgraph: 'content', adminUrl: process.env['TEST_PG_URL'] ?? '' });
  const database = openTestDatabase({ url: testDatabase.url, metrics: new Registry() });
  const folder = await mkdtemp(`${tmpdir()}/trestle-uploads-`);
  const createId = createIds({ now: Date.now });
  const opened = openContentStores({ database, createId, clock: () => new Date(Date.now() + aheadMs) });
  parts = { files: createLocalStore(folder), stores: opened.idempotency.stores, transact: opened.transact, createId };
  close = async () => {
    await opened.close();
    await database.close();
    await testDatabase.drop();
    await rm(folder, { recursive: true });
  };
});
afterAll(() => close());

function begin({ hasDirect = false, sha256 = createHash('sha256').update(FILE).digest('hex') } = {}): Promise<VideoUpload> {
  const upload = { ownerId: 'usr_1', title: 'Film', size: FILE.length, sha256, hasDirect };
  return parts.transact(({ uploads }) => uploads.create(upload, LIMITS));
}

async function* toBody(content: Buffer): AsyncGenerator<Uint8Array> {
  yield await Promise.resolve(content);
}

/** Stores bytes that no row names, as a request does with the last part of an upload. */
async function store(content: Buffer): Promise<string> {
  const key = UPLOAD_FILES + parts.createId('fil');
  await parts.files.put(key, toBody(content), { maxBytes: content.length });
  return key;
}

const find = ({ id }: VideoUpload) => parts.stores.uploads.find(id);

describe('completeUpload', () => {
  it('is CONFLICT, and leaves the video and the upload, when another request has completed the upload and deleted its parts', async () => {
    const begun = await begin();
    await receiveParts(parts, begun, toBody(FILE.subarray(0, HALF)));
    const upload = (await find(begun)) as VideoUpload;
    const overtaken = await store(FILE.subarray(HALF));
    const { videoId } = await receiveParts(parts, upload, toBody(FILE.subarray(HALF)));
    await expect(completeUpload(parts, upload, [overtaken])).rejects.toMatchObject({ code: 'CONFLICT' });
    expect(await find(upload)).toMatchObject({ videoId, offset: FILE.length });
    expect(await parts.files.stat(overtaken)).toBeUndefined();
  });

  it('is CONFLICT, and leaves the video and the upload, for other content than that with which another request has completed it', async () => {
    const upload = await begin();
    const { videoId } = await receiveParts(parts, upload, toBody(FILE));
    const other = await store(Buffer.alloc(FILE.length, 2));
    await expect(completeUpload(parts, upload, [other])).rejects.toMatchObject({ code: 'CONFLICT' });
    expect(await find(upload)).toMatchObject({ videoId });
  });

  it('deletes an upload whose content is not the declared one when no other request has changed it', async () => {
    const upload = await begin();
    await expect(completeUpload(parts, upload, [await store(Buffer.alloc(FILE.length, 2))])).rejects.toMatchObject({
      code: 'BUSINESS_RULE_VIOLATION',
    });
    expect(await find(upload)).toBeNull();
  });
});

describe('completeDirectUpload', () => {
  it('resolves with the video of the request that has completed the upload after this one has read it', async () => {
    const upload = await begin({ hasDirect: true });
    await parts.files.put(upload.directKey ?? '', toBody(FILE), { maxBytes: FILE.length });
    const videoId = await completeDirectUpload(parts, upload);
    expect(await completeDirectUpload(parts, upload)).toBe(videoId);
  });
});

it('a sweep of a process whose clock is a day ahead deletes no upload that has not expired by the clock of the database', async () => {
  const upload = await begin();
  aheadMs = 24 * 3_600_000;
  await parts.stores.uploads.sweep();
  aheadMs = 0;
  expect(await parts.stores.uploads.find(upload.id)).toMatchObject({ id: upload.id });
});
