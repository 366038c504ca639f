/** The headers of one part of a multipart request (RFC 7578 §4.2). No I/O. */
import { fail } from '@trestle/schema/errors';

/** The most bytes of the headers of one part. */
export const MAX_HEADER_BYTES = 4096;
/** Ends the headers of a part. */
export const HEADERS_END = '\r\n\r\n';
/** Stands behind the last delimiter. */
export const CLOSING = '--';

const DISPOSITION = /^content-disposition: *form-data *;/i;
const NAME = /; *name="?([^";]+)"?/i;

/** Returns the name of a part; undefined without one. `headers` begins behind the delimiter: with white space and a line break. */
export function nameOf(headers: string): string | undefined {
  const [padding = '', ...lines] = headers.split('\r\n');
  if (padding.trim() !== '') throw malformed('has a delimiter that does not end its line');
  const disposition = lines.find((line) => DISPOSITION.test(line));
  return disposition && NAME.exec(disposition)?.[1];
}

/** Returns VALIDATION_ERROR for a request that is not such a form. */
export function malformed(reason: string): Error {
  return fail('VALIDATION_ERROR', `The multipart request ${reason}.`);
}
