/** The media types of JSON responses (RFC 8259, RFC 9457, contract §4). No I/O. */
import { toAcceptedTypes } from '@trestle/service/messages/accept';

/** The media type of representations and error envelopes. */
export const JSON_TYPE = 'application/json; charset=utf-8';

/** The media type of problem details. */
export const PROBLEM_TYPE = 'application/problem+json; charset=utf-8';

/** Occurs in every range that names problem details. */
const PROBLEM = /problem\+json/i;

/** Returns whether errors are sent as problem details: only when the client accepts them and no other JSON (RFC 9457, contract §4). */
export function wantsProblem(accept: string | undefined): boolean {
  if (accept === undefined || !PROBLEM.test(accept)) return false;
  return toAcceptedTypes(accept, [PROBLEM_TYPE]).length > 0 && toAcceptedTypes(accept, [JSON_TYPE]).length === 0;
}
/** Server-sent events (HTML, "Server-sent events"). */
export const EVENT_STREAM_TYPE = 'text/event-stream';

/** The media types of an upload's body, as `Accept-Post` lists them. */
export const UPLOAD_TYPES = 'multipart/form-data, video/*';

/** Headers of files: a browser shows the content, and runs nothing of it, neither scripts nor what it guesses the content to be. */
export const HARMLESS = { 'content-security-policy': "default-src 'none'; sandbox", 'x-content-type-options': 'nosniff' };
