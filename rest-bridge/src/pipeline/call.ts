/** Stage 8: one operation at the gateway, and what its answer means for the resource (contract §4, §5). */
import { type ErrorCode, type Fault, type FieldFault, fail, isErrorCode } from '@trestle/schema/errors';
import type { GatewayAnswer, GatewayClient, GatewayError, GatewayRequest } from '../gateway-client.ts';
import type { Prepare, Prepared } from '../operations.ts';
import type { Shape } from '../query/shape.ts';

/** Who asks for what; the document comes from the row. */
export interface Asked extends Omit<GatewayRequest, 'documentStart'> {
  readonly gateway: GatewayClient;
}

export interface Plan {
  readonly prepare: Prepare;
  readonly shape: Shape;
  readonly isMutation: boolean;
}

/** A part of the answer that failed while the rest is there. */
export interface PartialError {
  readonly field: string;
  readonly code: ErrorCode;
  readonly message: string;
}

export interface Answer {
  readonly root: unknown;
  readonly prepared: Prepared;
  readonly errors: readonly PartialError[];
  readonly isReplayed: boolean;
  readonly serverTiming: string | undefined;
}

const INCLUDED = '_include_';

/**
 * Throws the failure of the resource itself: the gateway's error where there is one, NOT_FOUND where nothing was found. A related
 * resource that fails and would take the whole with it is left out, and told of beside the rest: reads are asked once more without it.
 */
export async function call({ gateway, ...request }: Asked, { prepare, shape, isMutation }: Plan): Promise<Answer> {
  const prepared = prepare(shape);
  const { path } = prepared;
  const answer = await gateway.execute({ ...request, documentStart: prepared.documentStart });
  const root = path.reduce<unknown>((value, name) => (value as Record<string, unknown> | null | undefined)?.[name], answer.data);
  const errors = answer.errors ? answer.errors.filter(({ extensions }) => extensions?.masked !== true) : [];
  if (root !== null && root !== undefined) {
    const { isReplayed, serverTiming } = answer;
    return { root, prepared, isReplayed, serverTiming, errors: errors.map((error) => toPartialError(error, path)) };
  }
  const failed =
    isMutation || shape.include.length === 0 ? [] : await findFailedIncludes({ gateway, ...request }, { prepare, shape, errors });
  if (failed.length === 0) throw toFault(answer, errors);
  const rest = { ...shape, include: shape.include.filter((name) => !failed.some(({ field }) => field === name)) };
  const second = await call({ gateway, ...request }, { prepare, shape: rest, isMutation });
  return { ...second, errors: [...failed, ...second.errors] };
}

/**
 * The inclusions that errors name. When something behind the gateway failed and nothing names which it was, the only one there is, or
 * each that fails when it is asked for alone.
 */
async function findFailedIncludes(
  asked: Asked,
  { prepare, shape: { include }, errors }: Pick<Plan, 'prepare' | 'shape'> & { readonly errors: readonly GatewayError[] },
): Promise<PartialError[]> {
  const named = errors.flatMap((error) => {
    const name = error.path?.find((part): part is string => typeof part === 'string' && part.startsWith(INCLUDED));
    return name === undefined ? [] : [{ field: name.replace(INCLUDED, ''), code: codeOf(error), message: error.message }];
  });
  if (named.length > 0) return named.filter(({ field }, i) => named.findIndex((other) => other.field === field) === i);
  const broken = errors.find((error) => BEHIND.has(codeOf(error)));
  if (!broken) return [];
  const [only, ...others] = include;
  if (only !== undefined && others.length === 0) return [{ field: only, code: codeOf(broken), message: broken.message }];
  const alone = await Promise.allSettled(
    include.map((name) => call(asked, { prepare, shape: { fields: [], include: [name] }, isMutation: false })),
  );
  return alone.flatMap((outcome) =>
    outcome.status === 'fulfilled' ? outcome.value.errors.filter(({ field }) => include.includes(field)) : [],
  );
}

/** What failed and was not the client's fault. */
const BEHIND: ReadonlySet<ErrorCode> = new Set(['UPSTREAM_ERROR', 'UPSTREAM_TIMEOUT', 'SERVICE_UNAVAILABLE', 'INTERNAL_ERROR']);

function toFault({ data, errors: all }: GatewayAnswer, errors: readonly GatewayError[]): Fault {
  const [error] = errors;
  if (!error)
    return data || all
      ? fail('NOT_FOUND', 'There is no such resource')
      : fail('UPSTREAM_ERROR', 'The service behind this one answered badly');
  const details = error.extensions?.details as readonly FieldFault[] | undefined;
  const retryAfter = error.extensions?.retryAfter;
  return fail(codeOf(error), error.message, {
    ...(details && { details: details.map(({ field, message }) => ({ field: PARAMETERS[field] ?? field, message })) }),
    ...(typeof retryAfter === 'number' && { retryAfterSeconds: retryAfter }),
  });
}

/** What a subgraph calls otherwise than a REST client does. */
const PARAMETERS: Readonly<Record<string, string>> = { first: 'limit', last: 'limit', after: 'cursor', before: 'cursor' };

/** An error's place within the resource: `orders`, or `comments.author` for one below. */
function toPartialError(error: GatewayError, path: readonly string[]): PartialError {
  const names = (error.path ?? [])
    .slice(path.length)
    .filter((part): part is string => typeof part === 'string' && !['edges', 'node'].includes(part));
  return { field: names.map((name) => name.replace(INCLUDED, '')).join('.'), code: codeOf(error), message: error.message };
}

function codeOf({ extensions }: GatewayError): ErrorCode {
  return isErrorCode(extensions?.code) ? extensions.code : 'UPSTREAM_ERROR';
}
