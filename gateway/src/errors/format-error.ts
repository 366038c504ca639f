/** How errors leave the gateway: coded, with the request's id, and masked unless they were meant for the client (contract §3, §5). */
import { type ErrorCode, Fault, isErrorCode } from '@trestle/schema/errors';
import type { AnswerError } from '../execute/execution-errors.ts';
import { GraphQLError, type GraphQLFormattedError } from 'graphql';

/** Codes of Apollo Server and graphql-js, all of them the client's fault. */
const CLIENT_CODES: Readonly<Record<string, ErrorCode>> = {
  GRAPHQL_PARSE_FAILED: 'VALIDATION_ERROR',
  GRAPHQL_VALIDATION_FAILED: 'VALIDATION_ERROR',
  BAD_USER_INPUT: 'VALIDATION_ERROR',
  BAD_REQUEST: 'VALIDATION_ERROR',
  OPERATION_RESOLUTION_FAILURE: 'VALIDATION_ERROR',
  PERSISTED_QUERY_NOT_FOUND: 'VALIDATION_ERROR',
  PERSISTED_QUERY_NOT_SUPPORTED: 'VALIDATION_ERROR',
};

/** What of an error's extensions a client may see besides its code. */
const SHOWN = ['details', 'retryAfter', 'masked', 'coordinate', 'requires', 'count', 'service'] as const;

/**
 * What clients may know of an error that a subgraph reports:
 * - `mask`: code, message and the extensions in `SHOWN` where the code is one of ours; of any other error INTERNAL_ERROR and nothing else.
 * - `codes`: the same, and any code as it is, with a message that says only which subgraph reported it.
 * - `pass`: code, message and extensions as they are, but for stack traces. An error without a code becomes UPSTREAM_ERROR.
 */
export const SUBGRAPH_ERROR_POLICIES = ['mask', 'codes', 'pass'] as const;
export type SubgraphErrorPolicy = (typeof SUBGRAPH_ERROR_POLICIES)[number];

/** Returns the policy for a subgraph by its name. */
export type SubgraphErrors = (service: string) => SubgraphErrorPolicy;

/** `byName` has names in lower case. */
export function createSubgraphErrors(common: SubgraphErrorPolicy, byName: ReadonlyMap<string, SubgraphErrorPolicy>): SubgraphErrors {
  return (service) => byName.get(service.toLowerCase()) ?? common;
}

const MASK_ALL: SubgraphErrors = () => 'mask';
/** Longer codes are no codes. */
const MAX_CODE_LENGTH = 128;
/** Nothing that a client may see, whatever the policy. */
const NEVER_SHOWN = new Set(['stacktrace', 'exception', 'serviceName', 'requestId']);

/** Returns an error as the client reads it. What has no code of ours becomes INTERNAL_ERROR and says nothing, unless the subgraph's policy allows more. */
export function formatError(
  formatted: GraphQLFormattedError,
  error: unknown,
  subgraphErrors: SubgraphErrors = MASK_ALL,
): GraphQLFormattedError {
  const extensions: Record<string, unknown> = { ...formatted.extensions };
  const fault = error instanceof GraphQLError && error.originalError instanceof Fault ? error.originalError : undefined;
  const code = fault?.code ?? toCode(extensions['code']);
  const place = { ...(formatted.path && { path: formatted.path }), ...(formatted.locations && { locations: formatted.locations }) };
  extensions['service'] ??= extensions['serviceName'];
  const { service } = extensions;
  const policy = typeof service === 'string' ? subgraphErrors(service) : 'mask';
  if (policy === 'pass') {
    const passed = Object.entries(extensions).filter(([name]) => !NEVER_SHOWN.has(name));
    return {
      message: formatted.message,
      ...place,
      extensions: { ...Object.fromEntries(passed), code: readCode(extensions) ?? 'UPSTREAM_ERROR' },
    };
  }
  if (!code) return { ...maskError(extensions, policy), ...place };
  const shown: Record<string, unknown> = { code };
  for (const name of SHOWN) if (extensions[name] !== undefined) shown[name] = extensions[name];
  return { message: formatted.message, ...place, extensions: shown };
}

/** An error whose code is not ours, for a policy that does not let it pass. */
function maskError(extensions: Record<string, unknown>, policy: SubgraphErrorPolicy): GraphQLFormattedError {
  const { service } = extensions;
  const code = policy === 'codes' ? readCode(extensions) : undefined;
  const shown = typeof service === 'string' ? { service } : {};
  if (code === undefined) return { message: 'Something went wrong on our side', extensions: { code: 'INTERNAL_ERROR', ...shown } };
  return { message: `The subgraph ${String(service)} reported an error`, extensions: { code, ...shown } };
}

function readCode({ code }: Record<string, unknown>): string | undefined {
  return typeof code === 'string' && code !== '' && code.length <= MAX_CODE_LENGTH ? code : undefined;
}

/** Returns the errors of a result as its client reads them. */
export function finishErrors(
  errors: readonly AnswerError[],
  { requestId, subgraphErrors }: { readonly requestId: string; readonly subgraphErrors: SubgraphErrors },
): GraphQLFormattedError[] {
  const told = errors.map(({ message, path, extensions }) =>
    formatError({ message, ...(path && { path }), extensions }, undefined, subgraphErrors),
  );
  return mergeDenials(told).map((error) => ({ ...error, extensions: { ...error.extensions, requestId } }));
}

const OUR_FAULT = new Set<unknown>(['INTERNAL_ERROR', 'UPSTREAM_ERROR', 'UPSTREAM_TIMEOUT']);

/** Whether an error is for the log: nothing that the client did. */
export function isOurFault({ extensions }: { readonly extensions?: Readonly<Record<string, unknown>> | undefined }): boolean {
  const code = toCode(extensions?.['code']);
  return code === undefined || OUR_FAULT.has(code);
}

/** Several fetches may deny the same field: the response tells one error a coordinate, which counts them all (contract §3). */
export function mergeDenials(errors: readonly GraphQLFormattedError[]): GraphQLFormattedError[] {
  const denials = new Map<unknown, GraphQLFormattedError>();
  const merged: GraphQLFormattedError[] = [];
  for (const error of errors) {
    const { masked, coordinate, count } = error.extensions ?? {};
    const first = masked === true ? denials.get(coordinate) : undefined;
    if (first?.extensions) {
      first.extensions['count'] = Number(first.extensions['count']) + Number(count);
      continue;
    }
    const own = { ...error, extensions: { ...error.extensions } };
    if (masked === true) denials.set(coordinate, own);
    merged.push(own);
  }
  return merged;
}

/** Whether nothing came of a request but that it needs a credential: then the whole answer is 401 (spec §5.7). */
export function needsCredential(data: unknown, errors: readonly GraphQLFormattedError[]): boolean {
  return (
    (data === null || data === undefined) && errors.length > 0 && errors.every(({ extensions }) => extensions?.['code'] === 'UNAUTHORIZED')
  );
}

function toCode(code: unknown): ErrorCode | undefined {
  if (isErrorCode(code)) return code;
  return typeof code === 'string' && Object.hasOwn(CLIENT_CODES, code) ? CLIENT_CODES[code] : undefined;
}
