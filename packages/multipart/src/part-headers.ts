/** The headers of one part of a multipart request (RFC 7578 §4.2). No I/O. */
import { fail } from '@trestle/schema/errors';
import { readParameter, splitOutsideQuotes } from '@trestle/service/messages/parameters';

/** The most bytes of the headers of one part. */
export const MAX_HEADER_BYTES = 4096;
/** Ends the headers of a part. */
export const HEADERS_END = '\r\n\r\n';
/** Stands behind the last delimiter. */
export const CLOSING = '--';

const DISPOSITION = /^content-disposition:[ \t]*form-data[ \t]*;/i;

/** Returns the name of a part; undefined without one. `headers` begins behind the delimiter: with white space and a line break. */
export function nameOf(headers: string): string | undefined {
  const [padding = '', ...lines] = headers.split('\r\n');
  if (padding.trim() !== '') throw malformed('has a delimiter that does not end its line');
  const disposition = lines.find((line) => DISPOSITION.test(line));
  return disposition && readParameter(splitOutsideQuotes(disposition, ';').slice(1), 'name');
}

/** Returns VALIDATION_ERROR for a request that is not such a form. */
export function malformed(reason: string): Error {
  return fail('VALIDATION_ERROR', `The multipart request ${reason}.`);
}
