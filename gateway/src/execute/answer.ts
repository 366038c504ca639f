/** Writes the answer of an operation that was run: data, errors, extensions. */
import type { Log } from '@trestle/log';
import { isErrorCode } from '@trestle/schema/errors';
import type { GraphQLFormattedError } from 'graphql';
import { type SubgraphErrors, finishErrors, isOurFault } from '../errors/format-error.ts';
import type { BufferPool } from './buffer-pool.ts';
import type { Execution } from './execute.ts';
import type { AnswerError } from './execution-errors.ts';
import { TOO_LARGE, type WriteRequest, type Written } from '../program/program.ts';

/** What is the same for all that an engine writes. */
export interface Writing {
  readonly buffers: BufferPool;
  readonly log: Log;
  /** What clients may know of subgraphs' errors. */
  readonly subgraphErrors: SubgraphErrors;
}

export interface AnswerExtras {
  /** JSON texts of introspection fields by response key. */
  readonly introspection: Readonly<Record<string, string>>;
  readonly extensions: object | undefined;
}

export interface Answer extends Written {
  /** Errors as the client reads them. */
  readonly told: readonly GraphQLFormattedError[];
  /** Whether there are no data at all. */
  readonly isNull: boolean;
}

export const NO_EXTRAS: AnswerExtras = { introspection: {}, extensions: undefined };

/** Where the data stand in `{"data":…`, and what they begin with when they are null. */
const DATA_AT = 8;
const LETTER_N = 0x6e;

/**
 * Returns a whole execution result as JSON, in a buffer of the pool or a larger one; logs errors that are not the client's fault. A result that would
 * be larger than the pool's `maxBytes` becomes an error with the code VALIDATION_ERROR: writing ends where the limit is passed.
 */
export function writeAnswer(execution: Execution, extras: AnswerExtras, writing: Writing): Answer {
  const { operation, data, errors, conditions, context } = execution;
  const { buffers, log, subgraphErrors } = writing;
  const { write, explain } = operation.compiled;
  const buffer = buffers.take();
  const request: WriteRequest = {
    conditions,
    introspection: extras.introspection,
    buffer,
    maxBytes: buffers.maxBytes,
    faults: [],
    noteMissing: errors.noteMissing,
  };
  const span = context.trace?.start('GraphQL write');
  try {
    // `explain` puts nulls where the schema forbids what has come, and says why, and which fields are missing.
    const written = (errors.hasFailures ? null : write(data, request)) ?? explain(data, request);
    const areNone = errors.isEmpty && request.faults.length === 0;
    const told = areNone ? NONE : tellErrors(errors.finish(request.faults), { execution, log, subgraphErrors });
    return finish(written, { told, extensions: extras.extensions, maxBytes: buffers.maxBytes });
  } catch (error) {
    if (!(error instanceof RangeError) || error.message !== TOO_LARGE) throw error;
    const message = `The response exceeds the limit of ${String(buffers.maxBytes)} bytes; select fewer fields or smaller pages`;
    const told = tellErrors([{ message, extensions: { code: 'VALIDATION_ERROR' } }], { execution, log, subgraphErrors });
    const length = buffer.write('{"data":null');
    return finish({ bytes: buffer, length }, { told, extensions: undefined, maxBytes: buffers.maxBytes });
  } finally {
    span?.end();
  }
}

interface Rest {
  readonly told: readonly GraphQLFormattedError[];
  readonly extensions: object | undefined;
  readonly maxBytes: number;
}

function finish(written: Written, rest: Rest): Answer {
  const { told, extensions } = rest;
  const { bytes, length } = told.length > 0 || extensions ? append(written, rest) : close(written);
  return { bytes, length, told, isNull: bytes[DATA_AT] === LETTER_N };
}

const NONE: readonly GraphQLFormattedError[] = [];

/** Gives the errors as the client reads them, and logs those that are not the client's fault. */
function tellErrors(
  errors: readonly AnswerError[],
  { execution, log, subgraphErrors }: { execution: Execution; log: Log; subgraphErrors: SubgraphErrors },
): GraphQLFormattedError[] {
  const { requestId, trail } = execution.context;
  for (const error of errors) {
    // Whose client has gone has fetches that were cut off, which is nobody's fault.
    if (!isOurFault(error) || trail.isAborted) continue;
    const { code, service } = error.extensions;
    const cause = error.cause ?? (isErrorCode(code) ? undefined : new Error(error.message));
    log.error('request failed', {
      requestId,
      code: typeof code === 'string' ? code : 'INTERNAL_ERROR',
      ...(typeof service === 'string' && { subgraph: service }),
      ...(cause !== undefined && { error: cause }),
    });
  }
  return finishErrors(errors, { requestId, subgraphErrors });
}

/** The rest of the answer after its data: errors and extensions. */
function append({ bytes, length }: Written, { told, extensions, maxBytes }: Rest): Written {
  const rest = `${told.length > 0 ? `,"errors":${JSON.stringify(told)}` : ''}${extensions ? `,"extensions":${JSON.stringify(extensions)}` : ''}}`;
  const tail = Buffer.from(rest);
  if (length + tail.length > maxBytes) throw new RangeError(TOO_LARGE);
  const all = bytes.length >= length + tail.length ? bytes : Buffer.concat([bytes.subarray(0, length)], length + tail.length);
  tail.copy(all, length);
  return { bytes: all, length: length + tail.length };
}

function close({ bytes, length }: Written): Written {
  bytes[length] = 0x7d;
  return { bytes, length: length + 1 };
}
