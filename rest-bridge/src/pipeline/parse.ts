/** Stage 5: parses headers, query and body, and reports every fault in one response (spec §7.2). */
import type { FieldFault } from '@trestle/schema/errors';
import { readJsonBody, requireJson } from '../http/json-body.ts';
import { type FieldSelection, parseFieldSelection } from '../query/field-selection.ts';
import { createParameters } from '../query/parameters.ts';
import { rejectRequest } from '../query/reject-request.ts';
import type { ReaderResult } from '../query/request-reader.ts';
import { resourceAtVersion } from '../resources/resource-at-version.ts';
import type { CompiledOperationRoute } from './compile.ts';
import type { AdmittedRequest } from './context.ts';
import { type IdempotencyKey, parseIdempotencyKey } from './idempotency-key.ts';

/** A request as values of known types. */
export interface ParsedRequest extends ReaderResult {
  readonly selection: FieldSelection;
  readonly idempotency: IdempotencyKey | undefined;
}

/** Returns the parsed request. Throws VALIDATION_ERROR with all faults, UNSUPPORTED_MEDIA_TYPE or PAYLOAD_TOO_LARGE. */
export async function parse({
  context: { request },
  target,
  compiled,
  params,
}: AdmittedRequest<CompiledOperationRoute>): Promise<ParsedRequest> {
  const { route, hasBody, isMutation, read } = compiled;
  const faults: FieldFault[] = [];
  if (hasBody) requireJson(request, route.method);
  const body = hasBody ? await readJsonBody(request) : undefined;
  const query = createParameters(target.search);
  // `locate` has parsed it.
  query.take('version');
  const idempotency = parseIdempotencyKey(route, { header: request.headers['idempotency-key'], path: target.path }, faults);
  const result = read({ params, query, body }, faults);
  const { fields, include } = resourceAtVersion(route.resource, target.version);
  // A failed inclusion is handled by a second request without it, and a write must not be sent twice.
  const known = { fields: Object.keys(fields), include: isMutation ? [] : Object.keys(include) };
  const selection = parseFieldSelection(query, known, faults);
  rejectRequest([...faults, ...query.faults()]);
  return { ...result, selection, idempotency };
}
