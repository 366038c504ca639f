/**
 * Reads the beginning of a GraphQL multipart request, the parts `operations` and `map`, and leaves the files behind them unread:
 * https://github.com/jaydenseric/graphql-multipart-request-spec. The bytes behind can be passed on as they are, without being parsed.
 */
import type { Readable } from 'node:stream';
import { fail } from '@trestle/schema/errors';

/** The first two parts of a request. */
export interface MultipartHead {
  /** JSON: the parameters of the operation, with null in place of each file. */
  readonly operations: string;
  /** JSON: for each part with a file, the paths of the variables that it stands for. */
  readonly map: string;
}

/** What a parser has found in the bytes so far; `end` is right behind the delimiter that follows the last part. */
export interface FoundParts {
  readonly contents: readonly string[];
  readonly end: number;
}

/** The most bytes of both parts together, headers included. */
const MAX_BYTES = 1024 * 1024 + 64 * 1024;
/** The most bytes of the headers of one part. */
export const MAX_HEADER_BYTES = 4096;
/** Stands behind the last delimiter. */
export const CLOSING = '--';

/**
 * Reads `operations` and `map`. Afterwards `source` continues with the bytes behind the delimiter of `map`: with `\r\n` and the first file, or with `--`.
 * Rejects with VALIDATION_ERROR, PAYLOAD_TOO_LARGE, and the error of `source`.
 */
export async function readHead(source: Readable, boundary: string): Promise<MultipartHead> {
  const [operations = '', map = ''] = await readParts(source, boundary, ['operations', 'map']);
  return { operations, map };
}

/** Reads the first parts of a form, which must have these names, in this order. Otherwise as {@link readHead}. */
export async function readParts(source: Readable, boundary: string, names: readonly string[]): Promise<readonly string[]> {
  let bytes = Buffer.alloc(0);
  let contents: readonly string[] | undefined;
  // Returns what belongs to the source again.
  const take = (chunk: Buffer): Buffer | undefined => {
    bytes = Buffer.concat([bytes, chunk]);
    const found = findParts(bytes, boundary, names);
    contents = found?.contents;
    return found && found.end < bytes.length ? bytes.subarray(found.end) : undefined;
  };
  for (;;) {
    if (!(await readChunk(source, take))) throw malformed(`ends before its first parts, ${names.join(' and ')}`);
    if (contents) return contents;
    if (bytes.length > MAX_BYTES)
      throw fail('PAYLOAD_TOO_LARGE', `The parts ${names.join(' and ')} exceed the limit of ${String(MAX_BYTES)} bytes.`);
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

/** Returns the parts once the bytes contain them; undefined before. Throws VALIDATION_ERROR for bytes that cannot begin such a form. */
export function findParts(bytes: Buffer, boundary: string, names: readonly string[]): FoundParts | undefined {
  const contents: string[] = [];
  let start = skipLineBreak(bytes);
  for (const name of names) {
    const part = findPart(bytes, { boundary, name, start });
    if (!part) return undefined;
    contents.push(part.content);
    start = part.end - boundary.length - 2;
  }
  return { contents, end: start + boundary.length + 2 };
}

interface Place {
  readonly boundary: string;
  readonly name: string;
  /** Where the delimiter before the part begins, without a line break. */
  readonly start: number;
}

/** Returns the content of a part, and the end of the delimiter behind it. */
function findPart(bytes: Buffer, { boundary, name, start }: Place): { content: string; end: number } | undefined {
  const delimiter = `--${boundary}`;
  const opening = bytes.subarray(start, start + delimiter.length).toString('latin1');
  if (!delimiter.startsWith(opening)) throw malformed('must begin with its boundary');
  const headers = start + delimiter.length;
  const headersEnd = bytes.indexOf('\r\n\r\n', headers, 'latin1');
  const isTooLong = (headersEnd < 0 ? bytes.length : headersEnd) - headers > MAX_HEADER_BYTES;
  if (isTooLong) throw malformed('has a part whose headers are too long');
  if (headersEnd < 0) return undefined;
  if (nameOf(bytes.toString('latin1', headers, headersEnd)) !== name) throw malformed(`must have the part \`${name}\` before its files`);
  const content = headersEnd + 4;
  // The content may be empty: then its line break is the last one of the headers.
  const end = bytes.indexOf(`\r\n${delimiter}`, headersEnd + 2, 'latin1');
  if (end < 0) return undefined;
  return { content: bytes.toString('utf8', content, Math.max(content, end)), end: end + 2 + delimiter.length };
}

const DISPOSITION = /^content-disposition: *form-data *;/i;
const NAME = /; *name="?([^";]+)"?/i;

/** Returns the name of a part; undefined without one. `headers` begins behind the delimiter: with white space and a line break. */
export function nameOf(headers: string): string | undefined {
  const [padding = '', ...lines] = headers.split('\r\n');
  if (padding.trim() !== '') throw malformed('has a delimiter that does not end its line');
  const disposition = lines.find((line) => DISPOSITION.test(line));
  return disposition && NAME.exec(disposition)?.[1];
}

function skipLineBreak(bytes: Buffer): number {
  return bytes[0] === 13 && bytes[1] === 10 ? 2 : 0;
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

/** Returns VALIDATION_ERROR for a request that is not such a form. */
export function malformed(reason: string): Error {
  return fail('VALIDATION_ERROR', `The multipart request ${reason}.`);
}
