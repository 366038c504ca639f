/** Stage 5: parses headers, query and body, and reports every fault in one response (spec §7.2). */
import { type FieldFault, fail } from '@trestle/schema/errors';
import { ID_LENGTH } from '@trestle/schema/lengths';
import type { RequestFiles } from '../gateway/gateway-posts.ts';
import { readJsonBody, requireJson } from '../http/json-body.ts';
import { type FieldSelection, parseFieldSelection } from '../query/field-selection.ts';
import { type Parameters, createParameters } from '../query/parameters.ts';
import { rejectRequest } from '../query/reject-request.ts';
import type { ReaderResult } from '../query/request-reader.ts';
import { selectableOf } from '../routes/route.ts';
import type { CompiledOperationRoute } from './compile.ts';
import type { AdmittedRequest, MatchedRoute } from './context.ts';
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

type Admitted = AdmittedRequest<CompiledOperationRoute>;

const NOTHING = {};

/**
 * Returns the parsed request: at once, unless its body must be read. Throws or rejects with VALIDATION_ERROR with all faults, NOT_FOUND,
 * UNSUPPORTED_MEDIA_TYPE or PAYLOAD_TOO_LARGE.
 */
export function parse(admitted: Admitted, maxUploadBytes = 0): ParsedRequest | Promise<ParsedRequest> {
  requirePossibleIds(admitted.params);
  const query = createParameters(admitted.target.search);
  if (admitted.compiled.hasBody) return parseWithBody(admitted, query, maxUploadBytes);
  return toParsedRequest(admitted, { query, body: undefined }, []);
}

/** Throws NOT_FOUND for an id in the path that is longer than any id: no resource can have had it. */
export function requirePossibleIds(params: MatchedRoute['params']): void {
  for (const name in params) if ((params[name]?.length ?? 0) > ID_LENGTH.max) throw fail('NOT_FOUND', 'The resource does not exist.');
}

async function parseWithBody(admitted: Admitted, query: Parameters, maxUploadBytes: number): Promise<ParsedRequest> {
  const { context, compiled } = admitted;
  const { request } = context;
  const { route } = compiled;
  const faults: FieldFault[] = [];
  if (route.input.kind === 'upload') {
    const { title, files } = await readUpload(request, { query, maxBytes: maxUploadBytes }, faults);
    const parsed = toParsedRequest(admitted, { query, body: undefined }, faults);
    return { ...parsed, variables: { ...parsed.variables, title }, files };
  }
  if (route.input.kind === 'upload part') {
    requirePart(request);
    return toParsedRequest(admitted, { query, body: undefined }, faults);
  }
  const described = route.input.kind === 'body' ? route.input.fromHeaders?.(request.headers) : undefined;
  if (!described) requireJson(request, route.method);
  const body = described ?? (await readJsonBody(request));
  return toParsedRequest(admitted, { query, body }, faults);
}

/** Throws VALIDATION_ERROR with the faults that were found before, and those that it finds. */
function toParsedRequest(
  { context: { request }, target, compiled, params }: Admitted,
  { query, body }: { readonly query: Parameters; readonly body: unknown },
  faults: FieldFault[],
): ParsedRequest {
  const { route, isMutation, read, findLimitFaults } = compiled;
  // `locate` has parsed it.
  query.take('version');
  const idempotency = parseIdempotencyKey(route, { header: request.headers['idempotency-key'], path: target.path }, faults);
  const result = read({ params, query, body }, faults);
  const { fields, include } = selectableOf(route, target.version);
  // A failed inclusion is handled by a second request without it, and a write must not be sent twice.
  const selection = parseFieldSelection(query, { fields, include: isMutation ? NOTHING : include }, faults);
  const { variables, paging, bodyNames } = result;
  faults.push(...query.faults(faults));
  if (faults.length > 0) {
    const isNamed = (name: string) => faults.some(({ field }) => field === name);
    rejectRequest(
      faults,
      findLimitFaults(variables)
        .map(({ field, message }) => ({ field: bodyNames?.[field] ?? field, message }))
        .filter(({ field }) => !isNamed(field)),
    );
  }
  return paging ? { variables, paging, selection, idempotency } : { variables, bodyNames, selection, idempotency };
}
