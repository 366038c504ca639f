/** The interface of the places that a supergraph is read from over the network. Each is one file beside this one. */
import type { CanaryReturn } from '../launches/delivered.ts';

/** A place that has a supergraph. It remembers what it read last, so that it can ask for changes only. */
export interface SupergraphSource {
  /** What logs and messages call it, without credentials. A copy on disk is used for the same place only. */
  readonly place: string;
  /** Reads the supergraph as it is now. Rejects with SourceError when the source fails, or delivers what is no text. */
  read(signal: AbortSignal): Promise<Reading>;
  /** Of a source with signatures: throws an Error unless this copy of what the source delivered may be served. Later readings may not be older. */
  readonly acceptCopy?: (sdl: string) => void;
  /** Of a source with canaries: reports that this process has ended one. Rejects with SourceError. */
  readonly reportReturn?: (ended: CanaryReturn, signal: AbortSignal) => Promise<void>;
}

/** What a source delivered. */
export interface Reading {
  /** Not validated yet. Undefined when nothing has changed since the last reading. */
  readonly sdl: string | undefined;
  /** What logs and messages call the place that delivered it, of a source with several. */
  readonly place?: string;
  /** The source wants no other request before this time has passed. */
  readonly minDelayMs?: number | undefined;
}

/** How much a source may take. */
export interface SourceLimits {
  /** The time limit of a request, from the first byte sent to the last one received, with all redirects. */
  readonly timeoutMs: number;
  /** The most bytes of a response, also after it is decompressed. */
  readonly maxBytes: number;
}

/** A source failed. The message names the place and the reason, and never contains a credential or a part of the response. */
export class SourceError extends Error {
  override readonly name = 'SourceError';
  /** The source wants no other request before this time has passed. */
  readonly minDelayMs: number | undefined;

  constructor(message: string, { minDelayMs }: { readonly minDelayMs?: number | undefined } = {}) {
    super(message);
    this.minDelayMs = minDelayMs;
  }
}

/** The longest time that a source can keep the gateway from asking again. */
const MAX_DELAY_MS = 3_600_000;

/** Returns a delay that a source named, in milliseconds, at most an hour; undefined for what is not a number of seconds. */
export function readDelay(seconds: unknown): number | undefined {
  return typeof seconds === 'number' && seconds >= 0 ? Math.min(seconds * 1000, MAX_DELAY_MS) : undefined;
}

/**
 * Calls `read` with one endpoint after the other, until one succeeds. Rejects with the failures of all when none does, and at once when `isFinal`
 * returns true for a failure.
 */
export async function readFirst<T>(
  endpoints: readonly string[],
  read: (endpoint: string) => Promise<T>,
  isFinal: (error: SourceError) => boolean = () => false,
): Promise<T> {
  const failures: SourceError[] = [];
  for (const endpoint of endpoints) {
    try {
      return await read(endpoint);
    } catch (error) {
      if (!(error instanceof SourceError) || isFinal(error)) throw error;
      failures.push(error);
    }
  }
  const delays = failures.flatMap(({ minDelayMs }) => minDelayMs ?? []);
  throw new SourceError(failures.map(({ message }) => message).join('; '), {
    minDelayMs: delays.length > 0 ? Math.min(...delays) : undefined,
  });
}
