/** Uploads of 100 MiB: what they cost in memory, and what a process that is killed in the middle leaves behind. */
import { readFile, readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { until } from '../../stack/clients/client.ts';
import { toWebm } from '../../stack/clients/multipart.ts';
import { type Account, type Stack, startStack } from '../../stack/stack.ts';

const MIB = 1024 * 1024;
const PIECE = toWebm(MIB);
/** The V8 of Node.js 26 leaves more unused buffers in memory, also those of small uploads (docs/operations.md). All of the file would be more. */
const MAX_GROWTH_MIB = Number.parseInt(process.versions.node) >= 26 ? 95 : 30;

let stack: Stack;
let ada: Account;
beforeAll(async () => {
  stack = await startStack({ env: { FILES_SWEEP_AFTER_SECONDS: '1' } });
  ada = await stack.createAccount('Ada');
});
afterAll(() => stack.stop());

/** Sends so many pieces of 1 MiB; waits before each one. */
function upload(pieces: number, wait: (piece: number) => Promise<unknown> = () => Promise.resolve()): Promise<Response> {
  let sent = 0;
  const body = new ReadableStream<Uint8Array>({
    async pull(controller) {
      await wait(sent);
      if (sent++ < pieces) controller.enqueue(PIECE);
      else controller.close();
    },
  });
  const headers = { 'content-type': 'video/webm', authorization: `Bearer ${ada.token}` };
  return fetch(`${stack.rest}/v1/videos?title=Large`, { method: 'POST', body, headers, duplex: 'half' });
}

/** Returns the resident memory of each process, in bytes. */
async function readMemory(): Promise<number[]> {
  const all = [...stack.edge, stack.subgraphs.content];
  return Promise.all(
    all.map(async ({ pid }) => 1024 * Number(/^VmRSS:\s+(\d+)/m.exec(await readFile(`/proc/${String(pid)}/status`, 'utf8'))?.[1])),
  );
}

describe('an upload of 100 MB', () => {
  it('raises the memory of no process by more than 30 MiB, or by the size of the file with Node.js 26', async () => {
    // What a process loads for its first uploads, and the room that its heap takes, is no cost of a large one.
    for (let i = 0; i < 4; i++) expect((await upload(20)).status).toBe(201);
    const before = await readMemory();
    const most = [...before];
    const response = await upload(100, async () => {
      (await readMemory()).forEach((bytes, i) => (most[i] = Math.max(most[i] ?? 0, bytes)));
    });
    expect(response.status).toBe(201);
    expect(Math.max(...most.map((bytes, i) => (bytes - (before[i] ?? 0)) / MIB))).toBeLessThan(MAX_GROWTH_MIB);
  });

  it('leaves no part of a file when the subgraph is killed, and loses no acknowledged file', async () => {
    const files = async (folder: string) => (await readdir(join(stack.files, 'content', folder)).catch(() => [])).sort();
    const acknowledged = await files('videos');
    let kill: Promise<void> | undefined;
    const response = await upload(50, async (piece) => {
      if (piece === 10) {
        await until(async () => (await files('.unfinished')).length === 1);
        await (kill ??= stack.kill('content'));
      }
    });
    expect(response.status).toBeGreaterThanOrEqual(500);
    expect(await files('.unfinished')).toHaveLength(1);
    // A start sweeps what is older than a second.
    const [name = ''] = await files('.unfinished');
    const { ctimeMs } = await stat(join(stack.files, 'content', '.unfinished', name));
    await until(() => Promise.resolve(Date.now() - ctimeMs > 1500));
    await stack.revive('content');
    await until(async () => (await files('.unfinished')).length === 0);
    expect(await files('videos')).toEqual(acknowledged);
    const rows = await stack.sql<{ fileKey: string }>('content', 'SELECT "fileKey" FROM videos');
    expect(rows.map(({ fileKey }) => fileKey.replace('videos/', '')).sort()).toEqual(acknowledged);
  });
});
