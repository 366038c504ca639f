/** Reads a GraphQL multipart request and stores its files while they arrive. */
import type { IncomingMessage } from 'node:http';
import type { Readable } from 'node:stream';
import { Busboy, type BusboyHeaders } from '@fastify/busboy';
import type { FileStore } from '@trestle/files/file-store';
import type { Log } from '@trestle/log';
import { readBoundary } from '@trestle/multipart/boundary';
import { MAX_FILES, type Operations, parseMap, parseOperations, placeFiles } from '@trestle/multipart/place-files';
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
/** The parts that are no files. */
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
  readonly #fields = new Map<string, string>();
  readonly #stored = new Map<string, Promise<UploadedFile>>();
  #map: ReadonlyMap<string, readonly string[]> | undefined;

  constructor(request: IncomingMessage, options: UploadOptions) {
    this.#request = request;
    this.#options = options;
  }

  async read(): Promise<ReceivedOperations> {
    await this.#parse();
    const operations = parseOperations(this.#fields.get('operations') ?? '');
    const map = this.#mapOf();
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

  /** Resolves at the end of the request, and rejects with the first failure of a part. */
  #parse(): Promise<void> {
    const request = this.#request;
    if (readBoundary(request.headers['content-type'] ?? '') === undefined) return Promise.reject(malformed('has no valid boundary'));
    const parser = new Busboy({
      headers: request.headers as BusboyHeaders,
      limits: {
        fieldNameSize: MAX_NAME_BYTES,
        fieldSize: MAX_OPERATIONS_BYTES,
        // One more than there may be, so that its name is known.
        fields: FIELDS.length + 1,
        files: MAX_FILES,
        parts: MAX_FILES + FIELDS.length + 1,
        headerPairs: 20,
      },
    });
    return new Promise((resolve, reject) => {
      const stop = (error: unknown) => {
        request.unpipe(parser);
        reject(error instanceof Error ? error : new Error('The request failed'));
      };
      parser.on('field', (...[name, value, , isTruncated]) => {
        try {
          if (isTruncated) throw fail('PAYLOAD_TOO_LARGE', `\`${name}\` exceeds the limit of ${String(MAX_OPERATIONS_BYTES)} bytes.`);
          this.#addField(name, value);
        } catch (error) {
          stop(error);
        }
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
      request.pipe(parser);
    });
  }

  /** Stores a file. Throws VALIDATION_ERROR for one that `map` does not name, or that comes twice. */
  #receive(name: string, content: Readable, stop: (error: unknown) => void): void {
    if (!this.#mapOf().has(name)) throw unknownPart(name);
    if (this.#stored.has(name)) throw invalid(`has the file ${name} twice`, [{ field: name, message: 'must not be repeated' }]);
    const storing = this.#store(content);
    this.#stored.set(name, storing);
    storing.catch(stop);
  }

  /** Throws VALIDATION_ERROR for a part without a file that is not expected. */
  #addField(name: string, value: string): void {
    if (this.#fields.has(name)) throw invalid(`has the part ${name} twice`, [{ field: name, message: 'must not be repeated' }]);
    if (FIELDS.includes(name)) this.#fields.set(name, value);
    else if (this.#mapOf().has(name))
      throw invalid(`has no file in the part ${name}`, [{ field: name, message: 'must be a file: its part has a file name' }]);
    else throw unknownPart(name);
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

  #mapOf(): ReadonlyMap<string, readonly string[]> {
    return (this.#map ??= parseMap(this.#fields.get('map') ?? ''));
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
