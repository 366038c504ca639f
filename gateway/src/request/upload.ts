/**
 * The files of a GraphQL multipart request. They are not read here: their bytes go on to one subgraph as they arrive, behind a head of its own.
 * No I/O.
 */
import type { FileCheck } from '@trestle/multipart/file-check';
import { toHead } from '@trestle/multipart/write-request';
import { fail } from '@trestle/schema/errors';

/** Stands for a file in the variables of an operation. As JSON it is null, as the multipart request specification demands. */
export class FilePlaceholder {
  /** The name of the part that has the file. */
  readonly name: string;

  constructor(name: string) {
    this.name = name;
  }

  toJSON(): null {
    return null;
  }
}

/** The paths of the variables that each file stands for, by the name of its part. */
export type FileMap = Readonly<Record<string, readonly string[]>>;

type Values = Readonly<Record<string, unknown>>;

/** Returns the files in the variables of these names; undefined when there are none. */
export function findFiles(values: Values, names: readonly string[]): FileMap | undefined {
  // Without members of its own, because the name of a part may be that of any.
  const map = Object.create(null) as Record<string, string[]>;
  const visit = (value: unknown, path: string) => {
    if (value instanceof FilePlaceholder) (map[value.name] ??= []).push(path);
    else if (typeof value === 'object' && value !== null) for (const [key, each] of Object.entries(value)) visit(each, `${path}.${key}`);
  };
  for (const name of names) if (Object.hasOwn(values, name)) visit(values[name], `variables.${name}`);
  return Object.keys(map).length > 0 ? map : undefined;
}

export interface UploadOptions {
  readonly boundary: string;
  /** Gets the parts as they are read, and throws when one is missing at their end. */
  readonly check: FileCheck;
  readonly maxBytes: number;
}

/** The parts of a request that follow its `operations` and `map`. */
export class Upload {
  readonly #pieces: AsyncIterable<Buffer>;
  readonly #boundary: string;
  readonly #check: FileCheck;
  readonly #maxBytes: number;
  #isTaken = false;
  #failure: unknown;

  /** `pieces` continue behind the delimiter of `map`. */
  constructor(pieces: AsyncIterable<Buffer>, { boundary, check, maxBytes }: UploadOptions) {
    this.#pieces = pieces;
    this.#boundary = boundary;
    this.#check = check;
    this.#maxBytes = maxBytes;
  }

  /** The `Content-Type` of the request to the subgraph. */
  get contentType(): string {
    return `multipart/form-data; boundary="${this.#boundary}"`;
  }

  /** Why the client's request ended early or was refused; undefined unless it was. It is no fault of the subgraph. */
  get failure(): unknown {
    return this.#failure;
  }

  /** Returns the body of the request to the subgraph. It is read no faster than it is sent. Undefined when it was taken before. */
  take(operations: string, files: FileMap): AsyncIterable<Buffer> | undefined {
    if (this.#isTaken) return undefined;
    this.#isTaken = true;
    return this.#read(toHead(this.#boundary, { operations, map: JSON.stringify(files) }));
  }

  async *#read(head: string): AsyncGenerator<Buffer> {
    let size = 0;
    yield Buffer.from(head);
    try {
      for await (const chunk of this.#pieces) {
        size += chunk.length;
        if (size > this.#maxBytes) throw tooLarge(this.#maxBytes);
        // Before the chunk goes on: the subgraph never gets the end of a request that lacks a file, and does not execute it.
        this.#check.add(chunk);
        yield chunk;
      }
      this.#check.end();
    } catch (error) {
      this.#failure = error;
      throw error;
    }
  }
}

/** Returns PAYLOAD_TOO_LARGE for a request whose files exceed the limit. */
export function tooLarge(maxBytes: number): Error {
  return fail('PAYLOAD_TOO_LARGE', `The request exceeds the limit of ${String(maxBytes)} bytes for files.`);
}

/** The message for an operation whose files would have to be sent more than once. */
export const ONE_FETCH =
  'The files of an operation go to one subgraph, in one request. Send the mutations that take files as operations of their own.';
