/** Writes the responses of an operation with deferred fragments in the formats of incremental delivery. */
import type { GraphQLFormattedError } from 'graphql';
import type { IncrementalFormat } from '../../request/operation.ts';
import { toResponsePath } from '../../program/response-key.ts';
import type { ResultError } from '../../program/result.ts';
import type { CompletedPart, Delivery, Pending } from './deferred-execution.ts';

/** Returns errors as clients see them. */
export type Format = (errors: readonly ResultError[]) => readonly GraphQLFormattedError[];

/** Writes the first response, after which more follow. */
export function writeFirst({ data, errors }: Delivery, pending: readonly Pending[], { format, spec }: WriteOptions): Buffer {
  const formatted = format(errors);
  const parts = [`"data":${data}`];
  if (formatted.length > 0) parts.push(`"errors":${JSON.stringify(formatted)}`);
  if (spec === 'current') parts.push(`"pending":${writePending(pending)}`);
  return Buffer.from(`{${parts.join(',')},"hasNext":true}`);
}

export interface WriteOptions {
  readonly format: Format;
  readonly spec: IncrementalFormat;
}

/** Writes a later response. */
export function writePart(part: CompletedPart, { format, spec }: WriteOptions): Buffer {
  const text = spec === 'current' ? writeCurrent(part, format) : writeOlder(part, format);
  return Buffer.from(`{${text}"hasNext":${String(part.hasNext)}}`);
}

/** An object without data is completed with its errors, and has no incremental result. */
function writeCurrent({ objects, pending }: CompletedPart, format: Format): string {
  const incremental: string[] = [];
  const completed: string[] = [];
  for (const { id, data, errors } of objects) {
    const formatted = format(errors);
    const isNull = data === 'null';
    const text = formatted.length > 0 ? `,"errors":${JSON.stringify(formatted)}` : '';
    if (!isNull) incremental.push(`{"id":"${id}","data":${data}${text}}`);
    completed.push(`{"id":"${id}"${isNull ? text || `,"errors":${JSON.stringify(format([MISSING]))}` : ''}}`);
  }
  return [
    ...(pending.length > 0 ? [`"pending":${writePending(pending)},`] : []),
    ...(incremental.length > 0 ? [`"incremental":[${incremental.join(',')}],`] : []),
    `"completed":[${completed.join(',')}],`,
  ].join('');
}

/** Each object whose fragment failed has errors. */
const MISSING: ResultError = { message: 'A required field of the deferred fragment is missing.', extensions: { code: 'UPSTREAM_ERROR' } };

/** The format of 2022: each object with its path and label. */
function writeOlder({ objects }: CompletedPart, format: Format): string {
  const written = objects.map(({ path, label, data, errors }) => {
    const formatted = format(errors);
    const text = formatted.length > 0 ? `,"errors":${JSON.stringify(formatted)}` : '';
    return `{"data":${data},"path":${JSON.stringify(toResponsePath(path))}${label === undefined ? '' : `,"label":${JSON.stringify(label)}`}${text}}`;
  });
  return `"incremental":[${written.join(',')}],`;
}

function writePending(pending: readonly Pending[]): string {
  return JSON.stringify(pending.map(({ id, path, label }) => ({ id, path: toResponsePath(path), ...(label !== undefined && { label }) })));
}
