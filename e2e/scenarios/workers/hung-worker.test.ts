/** A worker that computes without end, in the hook of an extension. */
import { existsSync } from 'node:fs';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { readMetric, until } from '../../stack/clients/client.ts';
import { postAlone } from '../../stack/clients/own-connection.ts';
import { type Federation, startFederation } from '../../stack/federation/federation.ts';

const SOURCES = { books: { sdl: 'type Query { title: String }', resolvers: { Query: { title: () => 'Emma' } } } };
const WORKERS = 2;
/** Writes a file before it computes. */
const MODULE = `import { writeFileSync } from 'node:fs';
export default {
  name: 'endless',
  onOperation: ({ variables }) => {
    if (typeof variables.begun !== 'string') return;
    writeFileSync(variables.begun, '');
    for (;;);
  },
};`;
/** It takes 20 s to notice the worker. */
const TIMEOUT_MS = 60_000;

describe('a worker that does not respond', () => {
  let folder: string;
  let federation: Federation;
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'trestle-hung-worker-'));
    const file = join(folder, 'endless.mjs');
    await writeFile(file, MODULE);
    const env = { EXTENSIONS_FILE: file, REQUEST_DRAIN_MS: '0', SUBSCRIPTION_DRAIN_MS: '0' };
    federation = await startFederation(SOURCES, { args: ['--workers', String(WORKERS)], env });
    await until(async () => (await readMetric(federation.gateway.url, 'trestle_workers')) === WORKERS);
  });
  afterAll(async () => {
    await federation.stop();
    await rm(folder, { recursive: true, force: true });
  });

  const readWorkers = async () => {
    const pid = String(federation.gateway.pid);
    return (await readFile(`/proc/${pid}/task/${pid}/children`, 'utf8')).split(' ').filter((each) => each !== '');
  };
  const isRunning = (worker: string) =>
    readFile(`/proc/${worker}/stat`, 'utf8').then(
      (stat) => !stat.includes(') Z '),
      () => false,
    );
  /** Has one worker compute without end. Resolves with the status of the response, or rejects when the connection is lost. */
  const hang = (begun = '/dev/null') => postAlone(federation.url, { body: { query: '{ title }', variables: { begun } } });

  it(
    'is killed, logged and replaced',
    async () => {
      const before = await readWorkers();
      await expect(hang()).rejects.toThrow();
      await until(async () => (await readMetric(federation.gateway.url, 'trestle_workers')) === WORKERS);
      const after = await readWorkers();
      expect(after.filter((worker) => before.includes(worker))).toHaveLength(WORKERS - 1);
      expect(federation.gateway.lines.join('\n')).toContain('a worker does not respond, and is killed');
    },
    TIMEOUT_MS,
  );

  it(
    'does not remain when the gateway is stopped',
    async () => {
      const workers = await readWorkers();
      const begun = join(folder, 'begun');
      const lost = expect(hang(begun)).rejects.toThrow();
      await until(() => Promise.resolve(existsSync(begun)));
      await federation.gateway.end('SIGTERM');
      await lost;
      for (const worker of workers) await until(async () => !(await isRunning(worker)));
    },
    TIMEOUT_MS,
  );
});
