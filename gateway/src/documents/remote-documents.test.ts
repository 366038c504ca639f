/** Look-ups of documents at a server: how many at once, what is kept, and what happens while the server fails. */
import { describe, expect, it } from '@jest/globals';
import { Registry } from 'prom-client';
import { RemoteDocuments } from './remote-documents.ts';

const LIMITS = { maxInFlight: 2, maxWaiting: 2, maxMissing: 3, missingMs: 60_000 };
const CODE = { code: 'SERVICE_UNAVAILABLE', retryAfterSeconds: 1 };

/** Starts with a server whose responses the test sends. */
function start(limits = LIMITS) {
  const reads: { readonly id: string; readonly signal: AbortSignal; resolve(text?: string): void; reject(error: Error): void }[] = [];
  const lines: string[] = [];
  const log = { info: (line: string) => lines.push(line), warn: (line: string) => lines.push(line) };
  const documents = new RemoteDocuments({
    server: {
      isId: (id) => id !== 'other',
      read: (id, signal) =>
        new Promise((resolve, reject) => {
          reads.push({ id, signal, resolve, reject });
        }),
    },
    log,
    metrics: new Registry(),
    limits,
  });
  const ids = () => reads.map(({ id }) => id);
  return { documents, reads, lines, ids };
}

describe('RemoteDocuments', () => {
  it('returns what is known without a promise', async () => {
    const { documents, reads, ids } = start();
    const found = documents.find('a');
    expect(documents.find('a')).toBe(found);
    reads[0]?.resolve('{ a }');
    expect(await found).toBe('{ a }');
    expect(documents.find('a')).toBe('{ a }');
    const missing = documents.find('b');
    reads[1]?.resolve(undefined);
    expect(await missing).toBeUndefined();
    expect([documents.find('b'), documents.find('other')]).toEqual([undefined, undefined]);
    expect(ids()).toEqual(['a', 'b']);
  });

  it('has at most so many look-ups in flight, and others wait in their order', async () => {
    const { documents, reads, ids } = start();
    const all = ['a', 'b', 'c', 'd'].map((id) => documents.find(id));
    expect(documents.find('c')).toBe(all[2]);
    expect(ids()).toEqual(['a', 'b']);
    await expect(documents.find('e')).rejects.toMatchObject(CODE);
    reads[1]?.resolve('{ b }');
    expect(await all[1]).toBe('{ b }');
    expect(ids()).toEqual(['a', 'b', 'c']);
    for (const i of [0, 2]) reads[i]?.resolve(`{ ${String(i)} }`);
    expect([await all[0], await all[2]]).toEqual(['{ 0 }', '{ 2 }']);
    reads[3]?.resolve('{ d }');
    expect(await all[3]).toBe('{ d }');
    const next = ['f', 'g', 'h'].map((id) => documents.find(id));
    expect(ids().slice(4)).toEqual(['f', 'g']);
    for (const i of [4, 5]) reads[i]?.resolve(undefined);
    expect([await next[0], await next[1]]).toEqual([undefined, undefined]);
    reads[6]?.resolve(undefined);
    expect(await next[2]).toBeUndefined();
  });

  it('refuses what waits when the server fails, and tries again for the next request', async () => {
    const { documents, reads, lines } = start();
    const all = ['a', 'b', 'c', 'd'].map((id) => Promise.resolve(documents.find(id)).catch((error: unknown) => error));
    reads[0]?.reject(new Error('down'));
    expect(await Promise.all([all[0], all[2], all[3]])).toMatchObject([CODE, CODE, CODE]);
    reads[1]?.reject(new Error('down'));
    expect(await all[1]).toMatchObject(CODE);
    const again = documents.find('a');
    reads[2]?.resolve('{ a }');
    expect(await again).toBe('{ a }');
    expect(lines).toEqual([expect.stringContaining('cannot be looked up'), 'documents can be looked up again']);
  });

  describe('an id without a document', () => {
    const miss = async ({ documents, reads }: ReturnType<typeof start>, id: string) => {
      const found = documents.find(id);
      reads.at(-1)?.resolve(undefined);
      expect(await found).toBeUndefined();
    };

    it('is forgotten beyond the bound', async () => {
      const started = start();
      for (const id of ['a', 'b', 'c', 'd']) await miss(started, id);
      expect([started.documents.find('d'), started.documents.find('a')]).toEqual([undefined, expect.any(Promise)]);
    });

    it('is forgotten after its time', async () => {
      const started = start({ ...LIMITS, missingMs: 20 });
      await miss(started, 'a');
      while (started.documents.find('a') === undefined) await new Promise(setImmediate);
      expect(started.reads.length).toBe(2);
    });
  });

  it('ends its look-ups when it stops, and logs no failure', async () => {
    const { documents, reads, lines } = start();
    const found = documents.find('a');
    reads[0]?.signal.addEventListener('abort', () => reads[0]?.reject(new Error('aborted')));
    documents.stop();
    await expect(found).rejects.toMatchObject(CODE);
    expect(lines).toEqual([]);
  });
});
