/** Stage 5: one operation at the gateway, and what its answer means for the resource (contract §4, §5). */
import { type ErrorCode, type FieldFault, type Fault, fail, isErrorCode } from '@trestle/schema/errors';
import type { GatewayAnswer, GatewayClient, GatewayError, GatewayRequest } from '../gateway-client.ts';

/** A part of the answer that failed while the rest is there. */
export interface PartialError {
  readonly field: string;
  readonly code: ErrorCode;
  readonly message: string;
}

export interface Answer {
  readonly root: unknown;
  readonly errors: readonly PartialError[];
}

/** Throws the failure of the resource itself: the gateway's error where there is one, NOT_FOUND where nothing was found. */
export async function call(gateway: GatewayClient, request: GatewayRequest, path: readonly string[]): Promise<Answer> {
  const answer = await gateway.execute(request);
  const root = path.reduce<unknown>((value, name) => (value as Record<string, unknown> | null | undefined)?.[name], answer.data);
  const errors = (answer.errors ?? []).filter(({ extensions }) => extensions?.masked !== true);
  if (root === null || root === undefined) throw toFault(answer, errors);
  return { root, errors: errors.map((error) => toPartialError(error, path)) };
}

function toFault({ data, errors: all }: GatewayAnswer, errors: readonly GatewayError[]): Fault {
  const [error] = errors;
  if (!error)
    return data || all
      ? fail('NOT_FOUND', 'There is no such resource')
      : fail('UPSTREAM_ERROR', 'The service behind this one answered badly');
  const details = error.extensions?.details as readonly FieldFault[] | undefined;
  return fail(
    codeOf(error),
    error.message,
    details && { details: details.map(({ field, message }) => ({ field: PARAMETERS[field] ?? field, message })) },
  );
}

/** What a subgraph calls otherwise than a REST client does. */
const PARAMETERS: Readonly<Record<string, string>> = { first: 'limit', last: 'limit', after: 'cursor', before: 'cursor' };

/** An error's place within the resource: `orders`, or `comments.author` for one below. */
function toPartialError(error: GatewayError, path: readonly string[]): PartialError {
  const names = (error.path ?? [])
    .slice(path.length)
    .filter((part): part is string => typeof part === 'string' && !['edges', 'node'].includes(part));
  return { field: names.join('.').replace(/_include_/g, ''), code: codeOf(error), message: error.message };
}

function codeOf({ extensions }: GatewayError): ErrorCode {
  return isErrorCode(extensions?.code) ? extensions.code : 'UPSTREAM_ERROR';
}
