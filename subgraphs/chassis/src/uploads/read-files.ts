/** Reads a GraphQL multipart request and stores its files while they arrive. */
import type { IncomingMessage } from 'node:http';
import type { Readable } from 'node:stream';
import { Busboy, type BusboyHeaders } from '@fastify/busboy';
import type { FileStore } from '@trestle/files/file-store';
import type { Log } from '@trestle/log';
import { readBoundary } from '@trestle/multipart/boundary';
import { MAX_FILES, type Operations, parseMap, parseOperations, placeFiles } from '@trestle/multipart/place-files';
import { isLastDelimiter, readHead } from '@trestle/multipart/read-head';
import { type FieldFault, fail } from '@trestle/schema/errors';
import { UploadedFile } from './uploaded-file.ts';

/** Where the files of a subgraph are stored. */
export interface UploadOptions {
  readonly files: FileStore;
  /** The keys of received files begin with it, such as `videos/`. */
  readonly prefix: string;
  /** The most bytes of one file. */
  readonly maxBytes: number;
  /** Returns a new id, the rest of a key. */
  readonly createId: () => string;
}

/** An operation whose variables contain its files. */
export interface ReceivedOperations {
  readonly operations: Operations;
  readonly files: readonly UploadedFile[];
}

/** As for JSON: the gateway adds what it has found so far to the client's own parameters. */
const MAX_OPERATIONS_BYTES = 8 * 1024 * 1024;
/** The parts before the files. */
const FIELDS: readonly string[] = ['operations', 'map'];
const MAX_NAME_BYTES = 100;
const HEAD_BYTES = 4100;

/**
 * Reads the request to its end. Rejects with VALIDATION_ERROR, PAYLOAD_TOO_LARGE, SERVICE_UNAVAILABLE, or the store's error; the files that were
 * stored until then are deleted. The log says which could not be: the sweep deletes them.
 */
export async function readFiles(request: IncomingMessage, options: UploadOptions, log: Pick<Log, 'warn'>): Promise<ReceivedOperations> {
  const reading = new Reading(request, options);
  try {
    return await reading.read();
  } catch (error) {
    for (const reason of await reading.abandon()) log.warn('could not delete a file of a refused request', { error: reason });
    throw error;
  }
}

class Reading {
  readonly #request: IncomingMessage;
  readonly #options: UploadOptions;
  readonly #stop = new AbortController();
  readonly #stored = new Map<string, Promise<UploadedFile>>();
  #map: ReadonlyMap<string, readonly string[]> = new Map();

  constructor(request: IncomingMessage, options: UploadOptions) {
    this.#request = request;
    this.#options = options;
  }

  async read(): Promise<ReceivedOperations> {
    const boundary = readBoundary(this.#request.headers['content-type'] ?? '');
    if (boundary === undefined) throw malformed('has no valid boundary');
    const head = await readHead(this.#request, boundary, MAX_OPERATIONS_BYTES);
    const operations = parseOperations(head.operations);
    const map = (this.#map = parseMap(head.map));
    if (await isLastDelimiter(this.#request)) this.#request.resume();
    else await this.#parse(boundary);
    const files = new Map<string, UploadedFile>();
    for (const [name, storing] of this.#stored) files.set(name, await storing);
    const missing = [...map.keys()].filter((name) => !files.has(name));
    if (missing.length > 0)
      throw invalid(
        `lacks the files ${missing.join(', ')}`,
        missing.map((field) => ({ field, message: 'is required' })),
      );
    placeFiles(operations, map, (name) => files.get(name) as UploadedFile);
    return { operations, files: [...files.values()] };
  }

  /** Stops the writes, and deletes what was stored. Resolves with the errors of files that could not be deleted. */
  async abandon(): Promise<readonly unknown[]> {
    this.#stop.abort(new Error('The request was abandoned'));
    const stored = await Promise.allSettled(this.#stored.values());
    const keys = stored.flatMap((result) => (result.status === 'fulfilled' ? [result.value.key] : []));
    const deleted = await Promise.allSettled(keys.map((key) => this.#options.files.delete(key)));
    return deleted.flatMap((result) => (result.status === 'rejected' ? [result.reason as unknown] : []));
  }

  /** Reads the files, and resolves at the end of the request. Rejects with the first failure of a part. */
  #parse(boundary: string): Promise<void> {
    const request = this.#request;
    const parser = new Busboy({
      headers: request.headers as BusboyHeaders,
      limits: {
        fieldNameSize: MAX_NAME_BYTES,
        // None is accepted: the first one is refused by its name.
        fieldSize: MAX_NAME_BYTES,
        fields: 1,
        files: MAX_FILES,
        parts: MAX_FILES + 1,
        headerPairs: 20,
      },
    });
    return new Promise((resolve, reject) => {
      const stop = (error: unknown) => {
        request.unpipe(parser);
        reject(error instanceof Error ? error : new Error('The request failed'));
      };
      parser.on('field', (name) => {
        stop(this.#toFieldFault(name));
      });
      parser.on('file', (name, content) => {
        // The parser reports a part that is cut off on itself too. The end of a write that was stopped is an error here, of which `#receive` has the reason.
        content.on('error', () => undefined);
        try {
          this.#receive(name, content, stop);
        } catch (error) {
          stop(error);
        }
      });
      for (const limit of ['partsLimit', 'filesLimit', 'fieldsLimit'] as const)
        parser.on(limit, () => {
          stop(malformed('has too many parts'));
        });
      parser.on('finish', resolve).on('error', () => {
        stop(malformed('is not well-formed'));
      });
      request.once('close', () => {
        if (!request.complete) stop(new Error('The client disconnected'));
      });
      if (request.destroyed && !request.complete) stop(new Error('The client disconnected'));
      // The delimiter that the request continues behind.
      parser.write(`--${boundary}`);
      request.pipe(parser);
    });
  }

  /** Stores a file. Throws VALIDATION_ERROR for one that `map` does not name, or that comes twice. */
  #receive(name: string, content: Readable, stop: (error: unknown) => void): void {
    if (!this.#map.has(name)) throw unknownPart(name);
    if (this.#stored.has(name)) throw invalid(`has the file ${name} twice`, [{ field: name, message: 'must not be repeated' }]);
    const storing = this.#store(content);
    this.#stored.set(name, storing);
    storing.catch(stop);
  }

  /** Returns the error of a part without a file. */
  #toFieldFault(name: string): Error {
    if (FIELDS.includes(name)) return invalid(`has the part ${name} twice`, [{ field: name, message: 'must not be repeated' }]);
    if (!this.#map.has(name)) return unknownPart(name);
    return invalid(`has no file in the part ${name}`, [{ field: name, message: 'must be a file: its part has a file name' }]);
  }

  async #store(content: Readable): Promise<UploadedFile> {
    const { files, prefix, maxBytes, createId } = this.#options;
    const head: Buffer[] = [];
    let size = 0;
    async function* keepHead() {
      for await (const chunk of content as AsyncIterable<Buffer>) {
        // A copy: a part of the chunk would keep all of it in memory.
        if (size < HEAD_BYTES) head.push(Buffer.from(chunk.subarray(0, HEAD_BYTES - size)));
        size += chunk.length;
        yield chunk;
      }
    }
    const stored = await files.put(prefix + createId(), keepHead(), { maxBytes, signal: this.#stop.signal });
    return new UploadedFile({ ...stored, head: Buffer.concat(head) });
  }
}

/** Returns the error of parts that clients can name. */
function invalid(reason: string, details: readonly FieldFault[]): Error {
  return fail('VALIDATION_ERROR', `The multipart request ${reason}.`, { details });
}

function unknownPart(name: string): Error {
  return invalid(`has the unknown part ${name}`, [{ field: name, message: 'is unknown' }]);
}

function malformed(reason: string): Error {
  return fail('VALIDATION_ERROR', `The multipart request ${reason} (graphql-multipart-request-spec).`);
}
