/** How errors leave the gateway: coded, with the request's id, and masked unless they were meant for the client (contract §3, §5). */
import { type ErrorCode, Fault, isErrorCode } from '@trestle/schema/errors';
import type { AnswerError } from './execute/execute.ts';
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

/** Writes an error for the client; whatever has no code of ours becomes INTERNAL_ERROR and says nothing. */
export function formatError(formatted: GraphQLFormattedError, error: unknown): GraphQLFormattedError {
  const extensions: Record<string, unknown> = { ...formatted.extensions };
  const fault = error instanceof GraphQLError && error.originalError instanceof Fault ? error.originalError : undefined;
  const code = fault?.code ?? toCode(extensions['code']);
  const place = { ...(formatted.path && { path: formatted.path }), ...(formatted.locations && { locations: formatted.locations }) };
  if (!code) return { message: 'Something went wrong on our side', ...place, extensions: { code: 'INTERNAL_ERROR' } };
  extensions['service'] ??= extensions['serviceName'];
  const shown: Record<string, unknown> = { code };
  for (const name of SHOWN) if (extensions[name] !== undefined) shown[name] = extensions[name];
  return { message: formatted.message, ...place, extensions: shown };
}

/** The errors of an answer as its client reads them. */
export function finishErrors(errors: readonly AnswerError[], requestId: string): GraphQLFormattedError[] {
  const told = errors.map(({ message, path, extensions }) => formatError({ message, ...(path && { path }), extensions }, undefined));
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
