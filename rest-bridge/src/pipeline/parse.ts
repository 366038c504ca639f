/** Stage 5: parses headers, query and body, and reports every fault in one response (spec §7.2). */
import type { FieldFault } from '@trestle/schema/errors';
import type { RequestFiles } from '../gateway/gateway-posts.ts';
import { readJsonBody, requireJson } from '../http/json-body.ts';
import { type FieldSelection, parseFieldSelection } from '../query/field-selection.ts';
import { createParameters } from '../query/parameters.ts';
import { rejectRequest } from '../query/reject-request.ts';
import type { ReaderResult } from '../query/request-reader.ts';
import { resourceAtVersion } from '../resources/resource-at-version.ts';
import type { CompiledOperationRoute } from './compile.ts';
import type { AdmittedRequest } from './context.ts';
import { type IdempotencyKey, parseIdempotencyKey } from './idempotency-key.ts';
import { requirePart } from './continue-upload.ts';
import { readUpload } from './read-upload.ts';

/** A request as values of known types. */
export interface ParsedRequest extends ReaderResult {
  readonly selection: FieldSelection;
  readonly idempotency: IdempotencyKey | undefined;
  /** The file of an upload. */
  readonly files?: RequestFiles;
}

/** Returns the parsed request. Throws VALIDATION_ERROR with all faults, UNSUPPORTED_MEDIA_TYPE or PAYLOAD_TOO_LARGE. */
export async function parse(
  { context: { request }, target, compiled, params }: AdmittedRequest<CompiledOperationRoute>,
  maxUploadBytes = 0,
): Promise<ParsedRequest> {
  const { route, hasBody, isMutation, read } = compiled;
  const faults: FieldFault[] = [];
  const query = createParameters(target.search);
  const upload = route.input.kind === 'upload' ? await readUpload(request, { query, maxBytes: maxUploadBytes }, faults) : undefined;
  if (route.input.kind === 'upload part') requirePart(request);
  const described = route.input.kind === 'body' ? route.input.fromHeaders?.(request.headers) : undefined;
  const hasJson = hasBody && !upload && !described && route.input.kind !== 'upload part';
  if (hasJson) requireJson(request, route.method);
  const body = hasJson ? await readJsonBody(request) : described;
  // `locate` has parsed it.
  query.take('version');
  const idempotency = parseIdempotencyKey(route, { header: request.headers['idempotency-key'], path: target.path }, faults);
  const result = read({ params, query, body }, faults);
  const { fields, include } = resourceAtVersion(route.resource, target.version);
  // A failed inclusion is handled by a second request without it, and a write must not be sent twice.
  const known = { fields: Object.keys(fields), include: isMutation ? [] : Object.keys(include) };
  const selection = parseFieldSelection(query, known, faults);
  rejectRequest([...faults, ...query.faults()]);
  if (!upload) return { ...result, selection, idempotency };
  return { variables: { ...result.variables, title: upload.title }, files: upload.files, selection, idempotency };
}
