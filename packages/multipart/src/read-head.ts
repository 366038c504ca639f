/**
 * Reads the beginning of a GraphQL multipart request, the parts `operations` and `map`, and leaves the files behind them unread:
 * https://github.com/jaydenseric/graphql-multipart-request-spec. The bytes behind can be passed on as they are, without being parsed.
 */
import type { Readable } from 'node:stream';
import { fail } from '@trestle/schema/errors';
import { FirstParts } from './first-parts.ts';
import { CLOSING, malformed } from './part-headers.ts';

/** The first two parts of a request. */
export interface MultipartHead {
  /** JSON: the parameters of the operation, with null in place of each file. */
  readonly operations: string;
  /** JSON: for each part with a file, the paths of the variables that it stands for. */
  readonly map: string;
}

/** The most bytes of both parts together, headers included. */
const MAX_BYTES = 1024 * 1024 + 64 * 1024;

/**
 * Reads `operations` and `map`, which have at most `maxBytes` together. Afterwards `source` continues with the bytes behind the delimiter of `map`: with
 * `\r\n` and the first file, or with `--`. Rejects with VALIDATION_ERROR, PAYLOAD_TOO_LARGE, and the error of `source`.
 */
export async function readHead(source: Readable, boundary: string, maxBytes = MAX_BYTES): Promise<MultipartHead> {
  const [operations = '', map = ''] = await readFirst(source, { boundary, names: ['operations', 'map'], maxBytes });
  return { operations, map };
}

/** Reads the first parts of a form, which must have these names, in this order. Otherwise as {@link readHead}. */
export function readParts(source: Readable, boundary: string, names: readonly string[]): Promise<readonly string[]> {
  return readFirst(source, { boundary, names, maxBytes: MAX_BYTES });
}

interface First {
  readonly boundary: string;
  readonly names: readonly string[];
  readonly maxBytes: number;
}

async function readFirst(source: Readable, { boundary, names, maxBytes }: First): Promise<readonly string[]> {
  const parts = new FirstParts(boundary, names);
  for (;;) {
    if (!(await readChunk(source, (chunk) => parts.add(chunk)))) throw malformed(`ends before its first parts, ${names.join(' and ')}`);
    if (parts.contents.length === names.length) return parts.contents;
    if (parts.size > maxBytes)
      throw fail('PAYLOAD_TOO_LARGE', `The parts ${names.join(' and ')} exceed the limit of ${String(maxBytes)} bytes.`);
  }
}

/**
 * Returns whether the delimiter that `source` continues behind is the last one, so that no part follows. Waits for the two bytes behind it, and leaves
 * them unread. Rejects with VALIDATION_ERROR when `source` ends before, and with its error.
 */
export async function isLastDelimiter(source: Readable): Promise<boolean> {
  let bytes = Buffer.alloc(0);
  const take = (chunk: Buffer): Buffer | undefined => {
    bytes = Buffer.concat([bytes, chunk]);
    return bytes.length < CLOSING.length ? undefined : bytes;
  };
  while (bytes.length < CLOSING.length) if (!(await readChunk(source, take))) throw malformed('ends before its last delimiter');
  return bytes.toString('latin1', 0, CLOSING.length) === CLOSING;
}

/**
 * Passes the next bytes to `take`, and puts back what it returns: at once, because a source that is read to its end emits `end` before promises go on.
 * Resolves with false at the end. Leaves the stream paused, with its other bytes unread.
 */
function readChunk(source: Readable, take: (chunk: Buffer) => Buffer | undefined): Promise<boolean> {
  return new Promise((resolve, reject) => {
    const settle = (act: () => void) => {
      source.off('readable', read).off('end', end).off('error', stop).off('close', stop);
      act();
    };
    const read = () => {
      const chunk = source.read() as Buffer | null;
      if (chunk === null) return;
      settle(() => {
        try {
          const rest = take(chunk);
          if (rest) source.unshift(rest);
          resolve(true);
        } catch (error) {
          stop(error as Error);
        }
      });
    };
    const end = () => {
      settle(() => {
        resolve(false);
      });
    };
    const stop = (error?: Error) => {
      settle(() => {
        reject(error ?? new Error('The client disconnected'));
      });
    };
    source.on('readable', read).on('end', end).on('error', stop).on('close', stop);
    if (source.readableEnded) end();
    else if (source.destroyed) stop();
    else read();
  });
}
