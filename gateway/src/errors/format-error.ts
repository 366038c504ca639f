/** Formats errors of subgraphs and engines for clients: with a code and a request id, and masked unless the policy lets them pass (contract §3, §5). */
import { type Refusal, readRefusalExtensions, toChallenge } from '@trestle/identity/credentials/challenge';
import { ERRORS, type ErrorCode, Fault, INTERNAL_ERROR_MESSAGE, isErrorCode } from '@trestle/schema/errors';
import { GraphQLError, type GraphQLFormattedError } from 'graphql';
import type { ResultError } from '../program/result.ts';
import { type ErrorExtensions, type ExtensionLists, NO_LISTS, isListed, listsOf } from './extension-lists.ts';

/** Codes of Apollo Server and graphql-js for errors that the client caused. */
const CLIENT_CODES: Readonly<Record<string, ErrorCode>> = {
  GRAPHQL_PARSE_FAILED: 'VALIDATION_ERROR',
  GRAPHQL_VALIDATION_FAILED: 'VALIDATION_ERROR',
  BAD_USER_INPUT: 'VALIDATION_ERROR',
  BAD_REQUEST: 'VALIDATION_ERROR',
  OPERATION_RESOLUTION_FAILURE: 'VALIDATION_ERROR',
  PERSISTED_QUERY_NOT_FOUND: 'VALIDATION_ERROR',
  PERSISTED_QUERY_NOT_SUPPORTED: 'VALIDATION_ERROR',
};

/** Extensions that a client may see besides the code. */
const VISIBLE = [
  ...['details', 'retryAfter', 'limit', 'remaining', 'resetAt'],
  ...['masked', 'coordinate', 'requires', 'count', 'service', 'reason', 'requiredScopes', 'secondFactor'],
] as const;

/**
 * What clients see of an error that a subgraph reports:
 * - `mask`: code, message and the extensions in `VISIBLE` where the code is one of ours; of any other error INTERNAL_ERROR and nothing else.
 * - `codes`: the same, and any other code unchanged, with a message that only names the subgraph, and with the extensions that a list allows.
 * - `pass`: code, message and extensions unchanged, without stack traces, as far as lists show them. An error without a code becomes UPSTREAM_ERROR.
 */
export const SUBGRAPH_ERROR_POLICIES = ['mask', 'codes', 'pass'] as const;
export type SubgraphErrorPolicy = (typeof SUBGRAPH_ERROR_POLICIES)[number];

/** What clients see of the errors of one subgraph. */
export interface ShownErrors {
  readonly policy: SubgraphErrorPolicy;
  readonly lists: ExtensionLists;
}

/** Returns what clients see of the errors of a subgraph, by its name. */
export type SubgraphErrors = (service: string) => ShownErrors;

/** Creates the policies: `byName`, with names in lower case, overrides `common`. */
export function createSubgraphErrors(
  common: SubgraphErrorPolicy,
  byName: ReadonlyMap<string, SubgraphErrorPolicy>,
  lists: ErrorExtensions = NO_LISTS,
): SubgraphErrors {
  return (service) => ({ policy: byName.get(service.toLowerCase()) ?? common, lists: listsOf(service, lists) });
}

const MASKED: ShownErrors = { policy: 'mask', lists: {} };
const MASK_ALL: SubgraphErrors = () => MASKED;
const ALWAYS_VISIBLE: ReadonlySet<string> = new Set(VISIBLE);
/** In characters; a longer code counts as none. */
const MAX_CODE_LENGTH = 128;
/** Extensions that no policy lets pass. */
const NEVER_VISIBLE = new Set(['stacktrace', 'exception', 'serviceName', 'requestId', '__proto__']);

type Extensions = Readonly<Record<string, unknown>>;

/** An error of a result, or one that graphql-js formatted. */
type ReadError = { readonly [Name in keyof GraphQLFormattedError]: GraphQLFormattedError[Name] | undefined } & { readonly message: string };

/** Returns an error for the client. An error without one of our codes becomes a masked INTERNAL_ERROR, unless the subgraph's policy allows more. */
export function formatError(formatted: ReadError, error: unknown, subgraphErrors: SubgraphErrors = MASK_ALL): GraphQLFormattedError {
  const given: Extensions = formatted.extensions ?? {};
  const fault = error instanceof GraphQLError && error.originalError instanceof Fault ? error.originalError : undefined;
  const code = fault?.code ?? toCode(given['code']);
  const service = given['service'] ?? given['serviceName'];
  const { policy, lists } = typeof service === 'string' ? subgraphErrors(service) : MASKED;
  if (policy === 'pass')
    return withPlace(formatted, formatted.message, passExtensions(given, { service, lists, isKnown: code !== undefined }));
  if (!code) return maskError(formatted, service, { policy, lists });
  const allowed = policy === 'codes' && lists.allow ? passExtensions(given, { service, lists, isKnown: true }) : undefined;
  const shown: Record<string, unknown> = allowed ? { ...allowed, code } : { code };
  for (const name of VISIBLE) {
    const value = name === 'service' ? service : given[name];
    if (value !== undefined) shown[name] = value;
  }
  return withPlace(formatted, formatted.message, shown);
}

interface Passing {
  readonly service: unknown;
  readonly lists: ExtensionLists;
  /** Whether the code is one of ours: then the gateway reads those extensions that every policy shows. */
  readonly isKnown: boolean;
}

/** Returns the extensions of an error whose subgraph has the policy `pass`. */
function passExtensions(given: Extensions, { service, lists, isKnown }: Passing): Record<string, unknown> {
  const passed: Record<string, unknown> = {};
  for (const name in given)
    if (!NEVER_VISIBLE.has(name) && (isListed(name, lists) || (isKnown && ALWAYS_VISIBLE.has(name)))) passed[name] = given[name];
  passed['service'] = service;
  passed['code'] = readCode(given) ?? 'UPSTREAM_ERROR';
  return passed;
}

/** Masks an error whose code is not one of ours. */
function maskError(formatted: ReadError, service: unknown, { policy, lists }: ShownErrors): GraphQLFormattedError {
  const given: Extensions = formatted.extensions ?? {};
  const code = policy === 'codes' ? readCode(given) : undefined;
  const shown: Record<string, unknown> = typeof service === 'string' ? { service } : {};
  if (code === undefined) return withPlace(formatted, INTERNAL_ERROR_MESSAGE, { code: 'INTERNAL_ERROR', ...shown });
  const allowed = lists.allow === undefined ? {} : passExtensions(given, { service, lists, isKnown: false });
  return withPlace(formatted, `The subgraph ${String(service)} reported an error`, { ...allowed, code, ...shown });
}

/** Returns an error at the place of another one. A result may have very many: each has one of four shapes, which V8 knows, and is not merged from parts. */
function withPlace({ path, locations }: ReadError, message: string, extensions: Extensions): GraphQLFormattedError {
  if (!locations) return path ? { message, path, extensions } : { message, extensions };
  return path ? { message, path, locations, extensions } : { message, locations, extensions };
}

function readCode({ code }: Extensions): string | undefined {
  return typeof code === 'string' && code !== '' && code.length <= MAX_CODE_LENGTH ? code : undefined;
}

/** Returns the errors of a result for the client. */
export function formatErrors(
  errors: readonly ResultError[],
  { requestId, subgraphErrors }: { readonly requestId: string; readonly subgraphErrors: SubgraphErrors },
): GraphQLFormattedError[] {
  const formatted = errors.map((error) => formatError(error, undefined, subgraphErrors));
  const merged = mergeDenials(formatted);
  for (const { extensions } of merged) if (extensions) extensions['requestId'] = requestId;
  return merged;
}

const SERVER_CODES = new Set<unknown>(['INTERNAL_ERROR', 'UPSTREAM_ERROR', 'UPSTREAM_TIMEOUT']);

/** Returns whether an error belongs in the log: the client did not cause it. */
export function isServerError({ extensions }: { readonly extensions?: Readonly<Record<string, unknown>> | undefined }): boolean {
  const code = toCode(extensions?.['code']);
  return code === undefined || SERVER_CODES.has(code);
}

/** Merges the denials of each field coordinate into one error with the sum of their counts (contract §3): several fetches may deny the same field. */
export function mergeDenials(errors: readonly GraphQLFormattedError[]): GraphQLFormattedError[] {
  const denials = new Map<unknown, Record<string, unknown>>();
  const merged: GraphQLFormattedError[] = [];
  for (const error of errors) {
    const { extensions } = error;
    if (extensions?.['masked'] !== true) {
      merged.push(error);
      continue;
    }
    const first = denials.get(extensions['coordinate']);
    if (first) {
      first['count'] = Number(first['count']) + Number(extensions['count']);
      continue;
    }
    const own = { ...extensions };
    denials.set(own['coordinate'], own);
    merged.push({ ...error, extensions: own });
  }
  return merged;
}

/** Returns whether a result has no data and only UNAUTHORIZED errors: then the response is 401 (spec §5.7). */
export function needsCredential(data: unknown, errors: readonly GraphQLFormattedError[]): boolean {
  return (
    (data === null || data === undefined) && errors.length > 0 && errors.every(({ extensions }) => extensions?.['code'] === 'UNAUTHORIZED')
  );
}

/** The status and the challenge of a result that only says that the credential does not suffice. */
export interface RefusedResult {
  readonly status: number;
  readonly challenge: string | undefined;
}

/**
 * Returns the status and the challenge of a result without data: 401 when all its errors are UNAUTHORIZED, 403 when the credential lacks
 * scopes and nothing else is wrong (spec §5.7, RFC 6750 §3.1). Returns undefined for every other result.
 */
export function toRefusedResult(data: unknown, errors: readonly GraphQLFormattedError[]): RefusedResult | undefined {
  if (needsCredential(data, errors)) return toRefusal('UNAUTHORIZED', errors);
  const isEmpty = data === null || data === undefined;
  const lacksScopes = errors.every(
    ({ extensions }) => extensions?.['code'] === 'FORBIDDEN' && extensions['reason'] === 'insufficient_scope',
  );
  return isEmpty && errors.length > 0 && lacksScopes ? toRefusal('FORBIDDEN', errors) : undefined;
}

function toRefusal(code: ErrorCode, errors: readonly GraphQLFormattedError[]): RefusedResult {
  const read = errors.map(({ extensions }) => readRefusalExtensions(extensions));
  const scopes = [...new Set(read.flatMap(({ requiredScopes = [] }) => requiredScopes))];
  const refusal: Refusal = {
    code,
    isInvalidCredential: read.some(({ isInvalidCredential }) => isInvalidCredential === true),
    ...(code === 'FORBIDDEN' && { requiredScopes: scopes }),
  };
  return { status: ERRORS[code].status, challenge: toChallenge(refusal) };
}

function toCode(code: unknown): ErrorCode | undefined {
  if (isErrorCode(code)) return code;
  return typeof code === 'string' && Object.hasOwn(CLIENT_CODES, code) ? CLIENT_CODES[code] : undefined;
}
