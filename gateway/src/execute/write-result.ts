/** Writes the result of an executed operation: data, errors, extensions (GraphQL §7.1). */
import type { Log } from '@trestle/log';
import { OperationExpired } from '@trestle/service/process/cancellation';
import type { GraphQLFormattedError } from 'graphql';
import { type SubgraphErrors, formatErrors } from '../errors/format-error.ts';
import { logErrors } from '../errors/log-errors.ts';
import { toDenialErrors } from '../access/denial.ts';
import { type IntrospectionResults, TOO_LARGE, type WriteRequest, type Written } from '../program/program.ts';
import type { ResultError } from '../program/result.ts';
import type { RequestContext } from '../request/context.ts';
import { BUFFER_BYTES, type BufferPool } from './buffer-pool.ts';
import type { Executed } from './execute.ts';
import type { Assembled } from './executor.ts';

/** What all results of an engine are written with. */
export interface Writing {
  readonly buffers: BufferPool;
  readonly log: Log;
  /** What clients see of subgraphs' errors. */
  readonly subgraphErrors: SubgraphErrors;
}

export interface ResultExtras {
  readonly introspection: IntrospectionResults;
  readonly extensions: object | undefined;
}

export const NO_EXTRAS: ResultExtras = { introspection: {}, extensions: undefined };

export interface WrittenResult extends Written {
  /** The errors in the result. */
  readonly errors: readonly GraphQLFormattedError[];
  /** Whether `data` is null. */
  readonly isNull: boolean;
}

/** The offset of the data in `{"data":…`, and the first letter of null data. */
const DATA_AT = 8;
const LETTER_N = 0x6e;

/**
 * Returns a whole execution result as JSON, in a buffer of the pool or a larger one, and logs its server errors. A result larger than the
 * pool's `maxBytes` becomes a VALIDATION_ERROR: writing stops at the limit.
 */
export function writeResult(executed: Executed, extras: ResultExtras, writing: Writing): WrittenResult {
  const { operation, data, errors, conditions, context } = executed;
  const { buffers } = writing;
  const { maxBytes } = buffers;
  const { write, explain } = operation.compiled;
  const { introspection, extensions } = extras;
  const buffer = buffers.take(BUFFER_BYTES + measureIntrospection(introspection));
  const request: WriteRequest = { conditions, introspection, buffer, maxBytes, faults: [], noteMissing: errors.noteMissing };
  const span = context.trace?.start('GraphQL write');
  try {
    // `explain` writes nulls where a value violates the schema, and reports why, and which fields are missing.
    const written = (errors.hasFailures ? null : write(data, request)) ?? explain(data, request);
    const denials = toDenialErrors(operation.program.denials, conditions, context.caller);
    const isFree = errors.isEmpty && request.faults.length === 0 && denials.length === 0;
    const formatted = isFree ? NO_ERRORS : formatAndLog([...denials, ...errors.finish(request.faults)], executed, writing);
    return finish(written, { errors: formatted, extensions, maxBytes });
  } catch (error) {
    return refuseTooLarge(error, { buffer, executed, writing });
  } finally {
    span?.end();
  }
}

/** Returns a whole execution result of data that are written already, as {@link writeResult} does. */
export function writeAssembled(
  { assembled, errors }: Assembled,
  extensions: object | undefined,
  { context, writing }: { readonly context: RequestContext; readonly writing: Writing },
): WrittenResult {
  const { maxBytes } = writing.buffers;
  try {
    const formatted = errors.length > 0 ? formatAndLog(errors, { context }, writing) : NO_ERRORS;
    return finish(assembled, { errors: formatted, extensions, maxBytes });
  } catch (error) {
    return refuseTooLarge(error, { buffer: assembled.bytes, executed: { context }, writing });
  }
}

/** Returns the result that says that the response is too large; throws any other error. */
function refuseTooLarge(
  error: unknown,
  { buffer, executed, writing }: { readonly buffer: Buffer; readonly executed: Pick<Executed, 'context'>; readonly writing: Writing },
): WrittenResult {
  if (!(error instanceof RangeError) || error.message !== TOO_LARGE) throw error;
  const { maxBytes } = writing.buffers;
  const message = `The response exceeds the limit of ${String(maxBytes)} bytes. Select fewer fields or smaller pages.`;
  const formatted = formatAndLog([{ message, extensions: { code: 'VALIDATION_ERROR' } }], executed, writing);
  return finish({ bytes: buffer, length: buffer.write('{"data":null') }, { errors: formatted, extensions: undefined, maxBytes });
}

interface Rest {
  readonly errors: readonly GraphQLFormattedError[];
  readonly extensions: object | undefined;
  readonly maxBytes: number;
}

function finish(written: Written, rest: Rest): WrittenResult {
  const { errors, extensions } = rest;
  const { bytes, length } = errors.length > 0 || extensions ? append(written, rest) : close(written);
  return { bytes, length, errors, isNull: bytes[DATA_AT] === LETTER_N };
}

/** Returns the number of bytes, so that a buffer for large results does not have to grow by steps, of which each would become garbage. */
function measureIntrospection(introspection: IntrospectionResults): number {
  let bytes = 0;
  for (const key in introspection) bytes += introspection[key]?.length ?? 0;
  return bytes;
}

const NO_ERRORS: readonly GraphQLFormattedError[] = [];

/** Returns the errors for the client, and logs those that the client did not cause. */
export function formatAndLog(
  errors: readonly ResultError[],
  { context: { requestId, cancellation } }: Pick<Executed, 'context'>,
  { log, subgraphErrors }: Writing,
): GraphQLFormattedError[] {
  // The fetches of a disconnected client were aborted: their errors are expected.
  const isLogged = !cancellation.isCancelled || cancellation.reason instanceof OperationExpired;
  if (errors.length > 0 && isLogged) logErrors(log, errors, requestId);
  return formatErrors(errors, { requestId, subgraphErrors });
}

/** Appends errors and extensions to the data. */
function append({ bytes, length }: Written, { errors, extensions, maxBytes }: Rest): Written {
  const errorsText = errors.length > 0 ? `,"errors":${JSON.stringify(errors)}` : '';
  const tail = `${errorsText}${extensions ? `,"extensions":${JSON.stringify(extensions)}` : ''}}`;
  const end = length + Buffer.byteLength(tail);
  if (end > maxBytes) throw new RangeError(TOO_LARGE);
  const all = bytes.length >= end ? bytes : Buffer.concat([bytes.subarray(0, length)], end);
  all.write(tail, length);
  return { bytes: all, length: end };
}

function close({ bytes, length }: Written): Written {
  bytes[length] = 0x7d;
  return { bytes, length: length + 1 };
}
