/** The request bodies that a route accepts, which OPTIONS and 415 name (RFC 5789 §2.2, RFC 9110 §15.5.16). No I/O. */
import type { IncomingHttpHeaders } from 'node:http';
import { Fault } from '@trestle/schema/errors';
import { toAcceptedBodyTypes } from '../http/json-body.ts';
import { UPLOAD_TYPES } from '../http/media-types.ts';
import type { ResponseHeaders } from '../http/response.ts';
import { PART_TYPE } from '../http/tus.ts';
import type { CompiledRoute } from './compile.ts';

/** Returns the header that names the media types which a route accepts; nothing for a route without a body. */
export function toAcceptHeaders(compiled: CompiledRoute): ResponseHeaders {
  const name = HEADERS[compiled.route.method];
  return name === undefined || !compiled.hasBody ? {} : { [name]: toTypes(compiled) };
}

/** Returns the headers of an UNSUPPORTED_MEDIA_TYPE: the media types of the route, and the accepted coding when the request has another one. */
export function toRefusedBodyHeaders(error: unknown, compiled: CompiledRoute, sent: IncomingHttpHeaders): ResponseHeaders {
  if (!(error instanceof Fault) || error.code !== 'UNSUPPORTED_MEDIA_TYPE') return {};
  const { 'content-encoding': coding = 'identity' } = sent;
  return { ...toAcceptHeaders(compiled), ...(coding.toLowerCase() !== 'identity' && { 'accept-encoding': 'identity' }) };
}

const HEADERS: Readonly<Record<string, string>> = { POST: 'accept-post', PATCH: 'accept-patch', PUT: 'accept' };

function toTypes(compiled: CompiledRoute): string {
  const kind = 'operation' in compiled ? compiled.route.input.kind : undefined;
  if (kind === 'upload') return UPLOAD_TYPES;
  return kind === 'upload part' ? PART_TYPE : toAcceptedBodyTypes(compiled.route.method);
}
