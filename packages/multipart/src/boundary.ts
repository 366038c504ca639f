/** The boundary of a multipart request (RFC 2046 §5.1.1, RFC 7578). No I/O. */
import { readParameter, splitOutsideQuotes } from '@trestle/service/messages/parameters';

const TYPE = /^multipart\/form-data\s*;/i;
const VALID = /^[\w'()+,./:=? -]{0,69}[\w'()+,./:=?-]$/;

/** Returns whether a `Content-Type` is that of a form with files. */
export function isMultipart(contentType: string | undefined): contentType is string {
  return contentType !== undefined && (TYPE.test(contentType) || /^multipart\/form-data$/i.test(contentType));
}

/** Returns the boundary in a `Content-Type` of `multipart/form-data`; undefined when it has none that is valid. */
export function readBoundary(contentType: string): string | undefined {
  const boundary = readParameter(splitOutsideQuotes(contentType, ';').slice(1), 'boundary');
  return boundary !== undefined && VALID.test(boundary) ? boundary : undefined;
}
