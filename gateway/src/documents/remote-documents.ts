/** Trusted documents that a server has: each is looked up when a client first sends its id, and then kept in memory. */
import type { Log } from '@trestle/log';
import { type Fault, fail } from '@trestle/schema/errors';
import { LRUCache } from 'lru-cache';
import { Counter, type Registry } from 'prom-client';
import { createDocumentCache } from './document-cache.ts';

/** Where documents are. */
export interface DocumentServer {
  /** Returns whether the server could have a document with this id. */
  isId(id: string): boolean;
  /** Reads the text of a document; undefined when there is none. Rejects when the server fails. */
  read(id: string, signal: AbortSignal): Promise<string | undefined>;
}

export interface LookupLimits {
  /** Look-ups in flight. */
  readonly maxInFlight: number;
  /** Look-ups that wait until another one ends. */
  readonly maxWaiting: number;
  /** Ids without a document that are remembered, because clients choose ids. */
  readonly maxMissing: number;
  /** For how long they are remembered. */
  readonly missingMs: number;
}

const LIMITS: LookupLimits = { maxInFlight: 32, maxWaiting: 1000, maxMissing: 10_000, missingMs: 10_000 };

export interface RemoteDocumentOptions {
  readonly server: DocumentServer;
  readonly log: Pick<Log, 'info' | 'warn'>;
  readonly metrics: Registry;
  /** Default: 32 look-ups in flight, 1,000 that wait; 10,000 unknown ids are remembered for 10 s. */
  readonly limits?: LookupLimits;
}

/** A look-up that has not begun. */
interface Waiting {
  readonly id: string;
  readonly resolve: (text: Promise<string | undefined>) => void;
  readonly reject: (fault: Fault) => void;
}

export class RemoteDocuments {
  readonly #server: DocumentServer;
  readonly #limits: LookupLimits;
  readonly #observe: Observe;
  readonly #found = createDocumentCache();
  readonly #missing: LRUCache<string, true>;
  readonly #lookups = new Map<string, Promise<string | undefined>>();
  readonly #stopping = new AbortController();
  #waiting: Waiting[] = [];
  #inFlight = 0;

  constructor(options: RemoteDocumentOptions) {
    const { server, limits = LIMITS } = options;
    this.#server = server;
    this.#limits = limits;
    this.#observe = createObserver(options);
    this.#missing = new LRUCache({ max: limits.maxMissing, ttl: limits.missingMs });
  }

  /**
   * Returns the text of a document, or undefined where there is none; a promise of either when the document must be looked up. The promise rejects with
   * SERVICE_UNAVAILABLE when the server fails, or when too many look-ups wait.
   */
  find(id: string): string | undefined | Promise<string | undefined> {
    if (!this.#server.isId(id)) return undefined;
    const known = this.#found.get(id) ?? this.#lookups.get(id);
    if (known !== undefined || this.#missing.has(id)) return known;
    const { maxInFlight, maxWaiting } = this.#limits;
    if (this.#inFlight >= maxInFlight && this.#waiting.length >= maxWaiting) return Promise.reject(unavailable());
    const lookup = this.#inFlight < maxInFlight ? this.#read(id) : this.#wait(id);
    this.#lookups.set(id, lookup);
    return lookup;
  }

  /** Ends the look-ups in flight, which fail. */
  stop(): void {
    this.#stopping.abort();
  }

  async #read(id: string): Promise<string | undefined> {
    this.#inFlight++;
    try {
      const text = await this.#server.read(id, this.#stopping.signal);
      this.#observe(text === undefined ? 'missing' : 'found');
      if (text === undefined) this.#missing.set(id, true);
      else this.#found.set(id, text);
      return text;
    } catch (error) {
      if (!this.#stopping.signal.aborted) this.#observe('failed', error);
      this.#refuseWaiting();
      throw unavailable();
    } finally {
      this.#inFlight--;
      this.#lookups.delete(id);
      const next = this.#waiting.shift();
      next?.resolve(this.#read(next.id));
    }
  }

  #wait(id: string): Promise<string | undefined> {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ id, resolve, reject });
    });
  }

  /** Refuses what waits for a server that fails: in turns, each look-up could take the whole time limit before it fails too. */
  #refuseWaiting(): void {
    const refused = this.#waiting;
    this.#waiting = [];
    for (const { id, reject } of refused) {
      this.#lookups.delete(id);
      reject(unavailable());
    }
  }
}

function unavailable(): Fault {
  return fail('SERVICE_UNAVAILABLE', 'The document could not be looked up. Retry after 1 second.', { retryAfterSeconds: 1 });
}

/** Takes how a look-up ended. */
type Observe = (result: 'found' | 'missing' | 'failed', error?: unknown) => void;

/** Returns what counts look-ups, and logs the first failure in a row, and the first success after it. */
function createObserver({ log, metrics }: RemoteDocumentOptions): Observe {
  const counter = new Counter({
    name: 'trestle_document_lookups_total',
    help: 'Look-ups of documents at the CDN of Hive, by result: found, missing or failed.',
    labelNames: ['result'],
    registers: [metrics],
  });
  let isFailing = false;
  return (result, error) => {
    counter.inc({ result });
    const hasFailed = result === 'failed';
    if (hasFailed === isFailing) return;
    isFailing = hasFailed;
    if (hasFailed) log.warn('documents cannot be looked up; requests with ids that are not known are refused', { error });
    else log.info('documents can be looked up again');
  };
}
