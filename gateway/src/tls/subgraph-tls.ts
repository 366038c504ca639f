/** Certificates of connections to subgraphs: own authorities, and client certificates (mutual TLS). Files are read again when they change. */
import { readFileSync } from 'node:fs';
import { type SecureContext, createSecureContext } from 'node:tls';
import type { Log } from '@trestle/log';
import type { FileWatch } from '../configuration/file/watch-file.ts';
import type { ReadTls } from '@trestle/http-client/upstream-client';
import { isPair, readCertificates, readPrivateKey } from '../configuration/settings/pem.ts';
import { watchFiles } from './watch-files.ts';

/** Paths of files. */
export interface TlsFiles {
  /** Authorities that are trusted instead of those of Node.js. */
  readonly ca?: string | undefined;
  /** The client certificate, followed by its intermediate certificates. */
  readonly certificate?: string | undefined;
  readonly key?: string | undefined;
}

/** What each connection to a subgraph uses. */
export interface SubgraphTlsSettings {
  /** For every subgraph without files of its own. */
  readonly all: TlsFiles;
  /** By the name in lower case. */
  readonly bySubgraph: ReadonlyMap<string, TlsFiles>;
}

/** The certificates in use. */
export interface SubgraphTls {
  /** Returns what reads the context of each new connection to the subgraph. */
  of(name: string): ReadTls;
  /** Reads other files, which are not used yet. Throws TlsFileError when they are not valid. */
  prepare(settings: SubgraphTlsSettings): PreparedTls;
  stop(): void;
}

/** Certificates that were read. */
export interface PreparedTls {
  /** Has new connections use them, in place of those in use. */
  use(): void;
  /** Must be called at the end. Ends the watch of files that are not used. */
  discard(): void;
}

/** Why files cannot be used. The message does not name the file. */
export class TlsFileError extends Error {
  readonly file: keyof TlsFiles;

  constructor(file: keyof TlsFiles, message: string) {
    super(message);
    this.name = 'TlsFileError';
    this.file = file;
  }
}

/** Returns the files of one subgraph. A certificate and its key come from the same place. */
export function filesOf({ all, bySubgraph }: SubgraphTlsSettings, name: string): TlsFiles {
  const own = bySubgraph.get(name.toLowerCase());
  if (!own) return all;
  const { certificate, key } = own.certificate !== undefined || own.key !== undefined ? own : all;
  return { ca: own.ca ?? all.ca, certificate, key };
}

/** The content of the files, as PEM. */
type Pem = Readonly<Record<keyof TlsFiles, string | undefined>>;

/** Reads the files and checks them. Throws TlsFileError. */
export function readTlsFiles(files: TlsFiles): Pem {
  const pem: Pem = {
    ca: readPem(files, 'ca', readCertificates),
    certificate: readPem(files, 'certificate', readCertificates),
    key: readPem(files, 'key', readPrivateKey),
  };
  const { certificate, key } = pem;
  if (certificate !== undefined && key === undefined) throw new TlsFileError('certificate', 'needs keyFile, its private key');
  if (certificate === undefined && key !== undefined) throw new TlsFileError('key', 'needs certificateFile, the certificate of the key');
  if (certificate !== undefined && key !== undefined && !isPair(certificate, key))
    throw new TlsFileError('key', 'is not the key of the client certificate');
  return pem;
}

function readPem(files: TlsFiles, kind: keyof TlsFiles, check: (text: string) => string): string | undefined {
  const file = files[kind];
  if (file === undefined) return undefined;
  let text: string;
  try {
    text = readFileSync(file, 'utf8');
  } catch {
    throw new TlsFileError(kind, 'names a file that cannot be read');
  }
  try {
    return check(text);
  } catch (error) {
    throw new TlsFileError(kind, (error as Error).message);
  }
}

/** Starts to use the files, and watches them. Throws TlsFileError. */
export function createSubgraphTls(settings: SubgraphTlsSettings, log: Log): SubgraphTls {
  let current = load(settings, log);
  return {
    of: (name) => () => current.contexts.get(toKey(filesOf(current.settings, name)))?.context,
    prepare: (next) => {
      if (toText(next) === toText(current.settings)) return UNCHANGED;
      const loaded = load(next, log);
      return {
        use: () => {
          current.stop();
          current = loaded;
        },
        discard: () => {
          if (current !== loaded) loaded.stop();
        },
      };
    },
    stop: () => {
      current.stop();
    },
  };
}

const UNCHANGED: PreparedTls = { use: () => undefined, discard: () => undefined };

interface Loaded {
  readonly settings: SubgraphTlsSettings;
  readonly contexts: ReadonlyMap<string, { readonly context: SecureContext }>;
  stop(): void;
}

/** Equal files are read and watched once, for all subgraphs that have them. */
function load(settings: SubgraphTlsSettings, log: Log): Loaded {
  const sets = [settings.all, ...[...settings.bySubgraph.keys()].map((name) => filesOf(settings, name))];
  const byKey = new Map(sets.filter(hasFiles).map((files) => [toKey(files), files]));
  const contexts = new Map([...byKey].map(([key, files]) => [key, new WatchedContext(files)]));
  const watches = [...contexts.values()].map((each) => each.watch(log));
  return {
    settings,
    contexts,
    stop: () => {
      for (const watch of watches) watch.stop();
    },
  };
}

/** A context that is made anew when its files change. Connections that are open keep theirs. */
class WatchedContext {
  context: SecureContext;
  readonly #files: TlsFiles;
  #pem: Pem;

  constructor(files: TlsFiles) {
    this.#files = files;
    this.#pem = readTlsFiles(files);
    this.context = toContext(this.#pem);
  }

  watch(log: Log): FileWatch {
    const { ca, certificate, key } = this.#files;
    const files = [ca, certificate, key].filter((file) => file !== undefined);
    return watchFiles({
      files,
      subject: 'TLS to subgraphs',
      reload: () => {
        if (this.#reload()) log.info(CHANGED);
      },
      log,
    });
  }

  /** Returns whether the files have changed. Throws TlsFileError. */
  #reload(): boolean {
    const pem = readTlsFiles(this.#files);
    if (toKey(pem) === toKey(this.#pem)) return false;
    this.context = toContext(pem);
    this.#pem = pem;
    return true;
  }
}

const CHANGED = 'new connections to subgraphs use changed certificates';

function toContext({ ca, certificate: cert, key }: Pem): SecureContext {
  return createSecureContext({ ...(ca !== undefined && { ca }), ...(cert !== undefined && key !== undefined && { cert, key }) });
}

function hasFiles({ ca, certificate, key }: TlsFiles): boolean {
  return ca !== undefined || certificate !== undefined || key !== undefined;
}

function toKey({ ca, certificate, key }: TlsFiles): string {
  return JSON.stringify([ca, certificate, key]);
}

function toText({ all, bySubgraph }: SubgraphTlsSettings): string {
  return JSON.stringify([toKey(all), ...[...bySubgraph].map(([name, files]) => [name, toKey(files)]).sort()]);
}
