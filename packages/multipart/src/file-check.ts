/** Checks that a GraphQL multipart request has the files that its `map` names, while the bytes of the files pass. No I/O. */
import { CLOSING, HEADERS_END, MAX_HEADER_BYTES, malformed, nameOf } from './part-headers.ts';

/** Follows the bytes behind the delimiter of `map`. */
export interface FileCheck {
  /** Throws VALIDATION_ERROR when the bytes end the last part and a file is missing, and for bytes that are not parts of a form. */
  add(chunk: Buffer): void;
  /** Throws VALIDATION_ERROR when the bytes so far do not end the last part. */
  end(): void;
}

/** Creates the check of one request. `names` are those of the parts that must arrive. */
export function createFileCheck(boundary: string, names: Iterable<string>): FileCheck {
  const missing = new Set(names);
  const delimiter = `\r\n--${boundary}`;
  let state: 'headers' | 'content' | 'ended' = 'headers';
  let rest: Buffer = Buffer.alloc(0);
  /** Returns what remains to be searched; undefined when that needs more bytes, which `rest` then begins. */
  const readHeaders = (bytes: Buffer): Buffer | undefined => {
    if (bytes.length >= CLOSING.length && bytes.toString('latin1', 0, CLOSING.length) === CLOSING) {
      rejectMissing(missing);
      state = 'ended';
      return undefined;
    }
    const end = bytes.indexOf(HEADERS_END, 0, 'latin1');
    if ((end < 0 ? bytes.length : end) > MAX_HEADER_BYTES) throw malformed('has a part whose headers are too long');
    rest = bytes;
    if (end < 0) return undefined;
    const name = nameOf(bytes.toString('utf8', 0, end));
    if (name !== undefined) missing.delete(name);
    state = 'content';
    // The content may be empty: then the line break before the delimiter is the last one of the headers.
    return bytes.subarray(end + 2);
  };
  const readContent = (bytes: Buffer): Buffer | undefined => {
    const at = bytes.indexOf(delimiter, 0, 'latin1');
    rest = bytes.subarray(Math.max(0, bytes.length - delimiter.length + 1));
    if (at < 0) return undefined;
    state = 'headers';
    return bytes.subarray(at + delimiter.length);
  };
  return {
    add(chunk) {
      let bytes: Buffer | undefined = rest.length === 0 ? chunk : Buffer.concat([rest, chunk]);
      while (bytes && state !== 'ended') bytes = state === 'headers' ? readHeaders(bytes) : readContent(bytes);
    },
    end() {
      if (state !== 'ended') throw malformed('ends before its last delimiter');
    },
  };
}

/** Throws VALIDATION_ERROR when there are missing files. */
export function rejectMissing(names: Iterable<string>): void {
  const missing = [...names];
  if (missing.length > 0) throw malformed(`lacks the files ${missing.join(', ')} of its \`map\``);
}
