/** Stage 7: runs the operation at the gateway, and decides what its errors mean for the resource (contract §4, §5). */
import { readRefusalExtensions } from '@trestle/identity/credentials/challenge';
import { type ErrorCode, type Fault, type FaultOptions, type FieldFault, fail, isErrorCode } from '@trestle/schema/errors';
import type { GatewayClient } from '../gateway/gateway-client.ts';
import type { GraphQLResponseError, GraphQLResult } from '../gateway/graphql-result.ts';
import type { CompiledOperation } from '../operations/operations.ts';
import { Cancellation, OperationExpired } from '@trestle/service/process/cancellation';
import { toParameter } from '../query/list-parameters.ts';
import { INCLUDE_PREFIX } from '../resources/projection.ts';
import type { GatewayRequest } from './gateway-request.ts';

/** The failure of a part of the result, as `_errors` lists it. */
export interface PartialError {
  readonly field: string;
  readonly code: ErrorCode;
  readonly message: string;
}

/** How long a query that has timed out is repeated, in milliseconds: its client has waited for a whole timeout already. */
const REPEAT_TIMEOUT_MS = 2000;

const NO_ERRORS: readonly GraphQLResponseError[] = [];

/** The result of an operation. */
export interface GatewayResult {
  /** The data at the result path of the operation; never null. */
  readonly value: unknown;
  /** The operation that produced the value: without the inclusions that failed. */
  readonly compiled: CompiledOperation;
  readonly errors: readonly PartialError[];
  readonly isReplayed: boolean;
  readonly serverTiming: string | undefined;
  /** How long the gateway lets the result be cached, for an anonymous read. */
  readonly cacheControl: string | undefined;
  /** How old the result is, in seconds, if the gateway has kept it. */
  readonly age: string | undefined;
  /** The values of `Set-Cookie`, which only routes of sessions send to the client. */
  readonly cookies: readonly string[];
}

/**
 * Returns the result of an operation. Throws the error of the gateway when the resource itself failed, and NOT_FOUND when there is neither
 * data nor an error. When a related resource failed and made the whole result null, a query is repeated without it, and the result
 * lists the failure in `errors`. A query that has timed out is repeated for two seconds only.
 */
export async function call(gateway: GatewayClient, request: GatewayRequest): Promise<GatewayResult> {
  const { operation, selection, isMutation, variables, files, headers, trace, cancellation, responseEnd } = request;
  const compiled = operation(selection);
  const { bodyStart, resultPath } = compiled;
  const result = await gateway.execute({ bodyStart, variables, files, headers, trace, cancellation, responseEnd });
  let value: unknown = result.data;
  for (const key of resultPath) value = (value as Record<string, unknown> | null | undefined)?.[key];
  const errors = result.errors ? result.errors.filter(({ extensions }) => extensions?.masked !== true) : NO_ERRORS;
  if (value !== null && value !== undefined) {
    const { isReplayed, serverTiming, cacheControl, age, cookies } = result;
    const failures = errors.map((error) => toPartialError(error, resultPath));
    return { value, compiled, isReplayed, serverTiming, cacheControl, age, cookies, errors: failures };
  }
  const partial = isMutation || selection.include.length === 0 ? undefined : await repeat(gateway, request, errors);
  if (!partial) throw toFault(result, errors, request);
  return partial;
}

/**
 * Returns the result without the inclusions that failed; undefined when none did, or when the query timed out before and does not succeed within
 * two seconds now.
 */
async function repeat(
  gateway: GatewayClient,
  request: GatewayRequest,
  errors: readonly GraphQLResponseError[],
): Promise<GatewayResult | undefined> {
  if (!errors.some((error) => toCode(error) === 'UPSTREAM_TIMEOUT')) return callWithoutFailed(gateway, request, errors);
  const cancellation = request.cancellation?.derive() ?? new Cancellation();
  const timer = setTimeout(() => {
    cancellation.expire();
  }, REPEAT_TIMEOUT_MS);
  try {
    return await callWithoutFailed(gateway, { ...request, cancellation }, errors);
  } catch (error) {
    if (cancellation.reason instanceof OperationExpired) return undefined;
    throw error;
  } finally {
    clearTimeout(timer);
  }
}

/** Returns the result without the inclusions that failed; undefined when none did. */
async function callWithoutFailed(
  gateway: GatewayClient,
  request: GatewayRequest,
  errors: readonly GraphQLResponseError[],
): Promise<GatewayResult | undefined> {
  const { selection } = request;
  const failed = await findFailedInclusions(gateway, request, errors);
  if (failed.length === 0) return undefined;
  const include = selection.include.filter((name) => !failed.some(({ field }) => field === name));
  const partial = await call(gateway, { ...request, selection: { ...selection, include } });
  return { ...partial, errors: [...failed, ...partial.errors] };
}

/**
 * Returns the inclusions that failed: those that the paths of errors name. When an upstream error names none, that is the only inclusion,
 * or each one that fails when it is selected alone.
 */
async function findFailedInclusions(
  gateway: GatewayClient,
  request: GatewayRequest,
  errors: readonly GraphQLResponseError[],
): Promise<PartialError[]> {
  const { include } = request.selection;
  const named = errors.flatMap((error) => {
    const key = error.path?.find((part): part is string => typeof part === 'string' && part.startsWith(INCLUDE_PREFIX));
    return key === undefined ? [] : [{ field: key.replace(INCLUDE_PREFIX, ''), code: toCode(error), message: error.message }];
  });
  if (named.length > 0) return named.filter(({ field }, i) => named.findIndex((other) => other.field === field) === i);
  const upstreamError = errors.find((error) => UPSTREAM_CODES.has(toCode(error)));
  if (!upstreamError) return [];
  const [only, ...others] = include;
  if (only !== undefined && others.length === 0) {
    return [{ field: only, code: toCode(upstreamError), message: upstreamError.message }];
  }
  const results = await Promise.allSettled(
    include.map((name) => call(gateway, { ...request, selection: { fields: [], include: [name] }, isMutation: false })),
  );
  return results.flatMap((result) =>
    result.status === 'fulfilled' ? result.value.errors.filter(({ field }) => include.includes(field)) : [],
  );
}

/** The codes of failures that the client did not cause. */
const UPSTREAM_CODES: ReadonlySet<ErrorCode> = new Set(['UPSTREAM_ERROR', 'UPSTREAM_TIMEOUT', 'SERVICE_UNAVAILABLE', 'INTERNAL_ERROR']);

function toFault(
  { data, errors: all }: GraphQLResult,
  errors: readonly GraphQLResponseError[],
  { isMutation, sentNames = {} }: GatewayRequest,
): Fault {
  // The arguments of a mutation have the names of the body's fields, but for those that the version has renamed.
  if (errors.length > 0) return toResultFault(errors, (field) => sentNames[field] ?? (isMutation ? field : toParameterName(field)));
  if (data || all) return fail('NOT_FOUND', 'The resource does not exist.');
  return fail('UPSTREAM_ERROR', 'The gateway returned neither data nor errors. Retry later.');
}

/** Returns the fault that the first error of a result stands for. `toName` returns the client's name of an argument. */
export function toResultFault([error]: readonly GraphQLResponseError[], toName: (field: string) => string): Fault {
  if (!error) return fail('UPSTREAM_ERROR', 'The gateway returned no errors. Retry later.');
  const details = error.extensions?.details as readonly FieldFault[] | undefined;
  const retryAfter = error.extensions?.retryAfter;
  return fail(toCode(error), error.message, {
    ...(details && { details: details.map(({ field, message }) => ({ field: toName(field), message })) }),
    ...(typeof retryAfter === 'number' && { retryAfterSeconds: retryAfter }),
    ...readRefusalExtensions(error.extensions),
    ...readRateLimit(error.extensions),
  });
}

/** Returns what a gateway that counts the bridge's requests itself reports of its limit. */
function readRateLimit({ limit, remaining, resetAt }: Readonly<Record<string, unknown>> = {}): Pick<FaultOptions, 'rateLimit'> {
  if (typeof limit !== 'number' || typeof remaining !== 'number' || typeof resetAt !== 'string') return {};
  return { rateLimit: { limit, remaining, resetAt } };
}

/** The query parameters behind arguments that have other names in GraphQL. */
const PARAMETER_NAMES: Readonly<Record<string, string>> = {
  ...{ first: 'limit', last: 'limit', after: 'cursor', before: 'cursor' },
  ...{ query: 'q', types: 'type' },
};

/** Returns the query parameter behind an argument of a query, or a field of its filter. */
export function toParameterName(field: string): string {
  const filtered = /^filter\.(\w+)$/.exec(field)?.[1];
  return filtered === undefined ? (PARAMETER_NAMES[field] ?? field) : toParameter(filtered);
}

/** The field of a partial error is its path within the resource (`@` is every item of a list): `orders`, or `comments.author` for a nested one. */
function toPartialError(error: GraphQLResponseError, resultPath: readonly string[]): PartialError {
  const names = (error.path ?? [])
    .slice(resultPath.length)
    .filter((part): part is string => typeof part === 'string' && !['edges', 'node', '@'].includes(part));
  return { field: names.map((name) => name.replace(INCLUDE_PREFIX, '')).join('.'), code: toCode(error), message: error.message };
}

function toCode({ extensions }: GraphQLResponseError): ErrorCode {
  return isErrorCode(extensions?.code) ? extensions.code : 'UPSTREAM_ERROR';
}
