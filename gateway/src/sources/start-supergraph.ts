/** The supergraph of the process: read from its source at the start, else from the copy on disk, and replaced when it changes. */
import { readFile } from 'node:fs/promises';
import { SettingsError } from '@trestle/env';
import type { Log } from '@trestle/log';
import type { RemoteSource, SourceSettings } from '../configuration/choose-source.ts';
import { watchFile } from '../configuration/file/watch-file.ts';
import type { Engine } from '../engines/engine.ts';
import { type LastGood, createLastGood } from './last-good.ts';
import { openSource } from './open-source.ts';
import { pollSource } from './poll-source.ts';
import { reportReturn } from './report-return.ts';
import { isPassing, toRetryDelayMs } from './passing-failure.ts';
import type { ReadResult, SourceMetrics } from './source-metrics.ts';
import type { SupergraphSource } from './source.ts';

export interface SupergraphOptions {
  readonly settings: SourceSettings;
  /** Creates what serves a supergraph. Rejects for one that is not valid. */
  readonly createEngine: (sdl: string) => Promise<Engine>;
  readonly log: Pick<Log, 'info' | 'warn' | 'error'>;
  readonly metrics: SourceMetrics;
}

/** What serves the supergraph, and the function that ends the search for new ones. */
export interface RunningSupergraph {
  readonly engine: Engine;
  readonly stop: () => void;
}

/** Serves the supergraph. Rejects with the reason when there is none that can be served, neither at its source nor on disk. */
export function startSupergraph(options: SupergraphOptions): Promise<RunningSupergraph> {
  const { settings } = options;
  return settings.kind === 'file' ? startFromFile(settings.file, options) : startFromSource(settings, options);
}

async function startFromFile(file: string, { createEngine, log, metrics }: SupergraphOptions): Promise<RunningSupergraph> {
  const sdl = await readFile(file, 'utf8').catch((error: unknown) => {
    const { code } = error as NodeJS.ErrnoException;
    throw new SettingsError(`The supergraph ${file} ${code === 'ENOENT' ? 'does not exist' : `cannot be read (${String(code)})`}`);
  });
  const engine = await createEngine(sdl);
  metrics.count('new');
  metrics.setCurrent(true);
  let failure: ReadResult = 'failed';
  let served = sdl;
  const watch = watchFile(file, {
    initial: sdl,
    read: (path) => {
      failure = 'failed';
      return readFile(path, 'utf8');
    },
    load: async (next) => {
      failure = 'refused';
      await engine.swap(next);
      served = next;
      metrics.count('new');
      metrics.setCurrent(true);
      log.info('serving a new supergraph', { hash: engine.hash });
    },
    refuse: (error) => {
      metrics.count(isPassing(error) ? 'failed' : failure);
      metrics.setCurrent(false);
      log.error('refused a new supergraph; still serving the old one', { error });
    },
    readAgain: (text) => {
      log.info('the file of the supergraph can be read again');
      metrics.count('unchanged');
      metrics.setCurrent(text === served);
    },
    retryAfterMs: toRetryDelayMs,
  });
  return {
    engine,
    stop: () => {
      watch.stop();
    },
  };
}

async function startFromSource(settings: RemoteSource, options: SupergraphOptions): Promise<RunningSupergraph> {
  const { log, metrics } = options;
  const { intervalMs, maxBytes, cacheFile } = settings.polling;
  const source = openSource(settings);
  const lastGood = cacheFile === undefined ? undefined : createLastGood({ file: cacheFile, place: source.place, maxBytes });
  const keep = (sdl: string) => keepOnDisk(sdl, { lastGood, log });
  await noteCopy(source, lastGood);
  const first = await readFirstSupergraph(source, options);
  const { engine, sdl: served } = 'engine' in first ? first : await startFromDisk(first, { source, lastGood, options });
  if ('engine' in first) await keep(served);
  const load = async (sdl: string) => {
    await engine.swap(sdl);
    log.info('serving a new supergraph', { hash: engine.hash });
  };
  const { refused, pending } = 'engine' in first ? NOTHING_LEFT : first;
  const polling = pollSource({ source, intervalMs, served, refused, pending, load, keep, log, metrics });
  const stopping = new AbortController();
  engine.watchReturns?.((ended) => void reportReturn(ended, { source, signal: stopping.signal, log }));
  return {
    engine,
    stop: () => {
      stopping.abort();
      polling.stop();
    },
  };
}

/** A source with signatures does not deliver what is older than the copy on disk. A copy that is not there, or not valid, says nothing. */
async function noteCopy({ acceptCopy }: SupergraphSource, lastGood: LastGood | undefined): Promise<void> {
  if (!acceptCopy || !lastGood) return;
  try {
    acceptCopy(await lastGood.read());
  } catch {
    // It is reported when it would be served.
  }
}

interface Started {
  readonly engine: Engine;
  readonly sdl: string;
}

/** Why the first supergraph of a source cannot be served. */
interface NotStarted {
  readonly error: Error;
  /** The supergraph, when it is the one that is refused. */
  readonly refused: string | undefined;
  /** The supergraph, when it may be loaded later. */
  readonly pending: string | undefined;
}

const NOTHING_LEFT = { refused: undefined, pending: undefined };

async function readFirstSupergraph(source: SupergraphSource, { createEngine, metrics }: SupergraphOptions): Promise<Started | NotStarted> {
  let delivered: string | undefined;
  try {
    const { sdl = '' } = await source.read(new AbortController().signal);
    delivered = sdl;
    const engine = await createEngine(sdl);
    metrics.count('new');
    metrics.setCurrent(true);
    return { engine, sdl };
  } catch (error) {
    const [refused, pending] = isPassing(error) ? [undefined, delivered] : [delivered, undefined];
    metrics.count(refused === undefined ? 'failed' : 'refused');
    metrics.setCurrent(false);
    return { error: error as Error, refused, pending };
  }
}

interface DiskOptions {
  readonly source: SupergraphSource;
  readonly lastGood: LastGood | undefined;
  readonly options: SupergraphOptions;
}

async function startFromDisk({ error }: NotStarted, { source, lastGood, options }: DiskOptions): Promise<Started> {
  if (!lastGood) throw error;
  try {
    const sdl = await lastGood.read();
    source.acceptCopy?.(sdl);
    const engine = await options.createEngine(sdl);
    options.log.warn('serving the supergraph that was kept on disk', { hash: engine.hash, error });
    return { engine, sdl };
  } catch (diskError) {
    throw new Error(`${error.message}; and there is no copy on disk to serve: ${(diskError as Error).message}`, { cause: diskError });
  }
}

/** A disk that fails does not stop the gateway from serving. */
async function keepOnDisk(
  sdl: string,
  { lastGood, log }: { readonly lastGood: LastGood | undefined; readonly log: SupergraphOptions['log'] },
) {
  await lastGood?.write(sdl).catch((error: unknown) => {
    log.error('the supergraph cannot be kept on disk', { error });
  });
}
