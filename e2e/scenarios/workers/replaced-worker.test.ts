/** A worker that takes the place of another one, after the configuration file has changed. */
import { mkdtemp, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { readMetric, until } from '../../stack/clients/client.ts';
import { type Federation, startFederation } from '../../stack/federation/federation.ts';
import { postAlone } from '../../stack/clients/own-connection.ts';

const SOURCES = { books: { sdl: 'type Query { title: String }', resolvers: { Query: { title: () => 'Emma' } } } };
const WORKERS = 2;

describe('a worker that replaces another one', () => {
  let folder: string;
  let file: string;
  let federation: Federation;
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'trestle-replaced-worker-'));
    file = join(folder, 'trestle.yaml');
    await writeFile(file, 'limits: { maxBatch: 2, maxAliases: 3 }\n');
    federation = await startFederation(SOURCES, { args: ['--workers', String(WORKERS), '--config', file] });
    await until(async () => (await readMetric(federation.gateway.url, 'trestle_workers')) === WORKERS);
  });
  afterAll(async () => {
    await federation.stop();
    await rm(folder, { recursive: true, force: true });
  });

  /** Returns the statuses of requests with this body, on connections that reach both workers. */
  const post = (body: object) =>
    Promise.all(Array.from({ length: 2 * WORKERS }, async () => (await postAlone(federation.url, { body })).status));
  const all = (status: number) => Array<number>(2 * WORKERS).fill(status);
  const change = async (text: string) => {
    await writeFile(`${file}.next`, text);
    await rename(`${file}.next`, file);
  };
  const readWorkers = async () => {
    const pid = String(federation.gateway.pid);
    return (await readFile(`/proc/${pid}/task/${pid}/children`, 'utf8')).split(' ').filter((each) => each !== '');
  };
  const replaceWorker = async () => {
    const [victim = ''] = await readWorkers();
    process.kill(Number(victim), 'SIGKILL');
    await until(async () => {
      const workers = await readWorkers();
      return (
        workers.length === WORKERS && !workers.includes(victim) && (await post({ query: '{ title }' })).every((status) => status === 200)
      );
    });
    await until(async () => (await readMetric(federation.gateway.url, 'trestle_workers')) === WORKERS);
  };
  const ALIASES = { query: '{ a: title b: title }' };
  const BATCH = [{ query: '{ title }' }, { query: '{ title }' }, { query: '{ title }' }];

  it('has the settings of the others: what takes effect at the next start stays, and what takes effect at once is applied', async () => {
    await change('limits: { maxBatch: 3, maxAliases: 1 }\n');
    await until(async () => (await post(ALIASES)).every((status) => status === 400));
    await replaceWorker();
    expect(await post(ALIASES)).toEqual(all(400));
    expect(await post(BATCH)).toEqual(all(400));
    expect(await post(BATCH.slice(1))).toEqual(all(200));
  });

  it('starts although the file has a fault, with what the others have applied before', async () => {
    await change('limits: { maxBach: 3 }\n');
    await until(() => Promise.resolve(federation.gateway.lines.join('\n').includes('refused a changed configuration')));
    await replaceWorker();
    expect(await post(ALIASES)).toEqual(all(400));
    expect(await post(BATCH)).toEqual(all(400));
    expect(await post(BATCH.slice(1))).toEqual(all(200));
  });

  it('starts although the file is gone', async () => {
    await rm(file);
    await replaceWorker();
    expect(await post(ALIASES)).toEqual(all(400));
    expect(await post(BATCH.slice(1))).toEqual(all(200));
  });
});
