/** Stage 5: what is asked for, with every fault told at once (spec §7.2). */
import type { IncomingMessage } from 'node:http';
import type { FieldFault } from '@trestle/schema/errors';
import { readJsonBody, requireJson } from '../http/body.ts';
import { type IdempotencyKey, readIdempotencyKey } from '../idempotency/idempotency-key.ts';
import { rejectRequest } from '../query/faults.ts';
import { createParameters } from '../query/parameters.ts';
import { type Shape, readShape } from '../query/shape.ts';
import type { Reading } from '../query/reading.ts';
import { resourceAt } from '../versions/transform.ts';
import type { CompiledOperation } from './compile.ts';
import type { Located } from './locate.ts';

export interface Parsed {
  readonly reading: Reading;
  readonly shape: Shape;
  readonly idempotency: IdempotencyKey | undefined;
}

export interface ParseRequest {
  readonly located: Located;
  readonly params: Readonly<Record<string, string>>;
  readonly request: IncomingMessage;
}

/** Throws VALIDATION_ERROR with all faults of headers, query and body, UNSUPPORTED_MEDIA_TYPE or PAYLOAD_TOO_LARGE. */
export async function parse(compiled: CompiledOperation, { located, params, request }: ParseRequest): Promise<Parsed> {
  const { row, takesBody, isMutation, read } = compiled;
  const faults: FieldFault[] = [];
  if (takesBody) requireJson(request, row.method);
  const body = takesBody ? await readJsonBody(request) : undefined;
  const query = createParameters(located.search);
  query.take('version');
  const idempotency = readIdempotencyKey(row, { headers: request.headers, path: located.path }, faults);
  const reading = read({ params, query, body }, faults);
  const resource = resourceAt(row.resource, located.version);
  // A write is not sent twice because something beside it failed, so that nothing may come along with it.
  const shape = readShape(query, isMutation ? { ...resource, include: {} } : resource, faults);
  rejectRequest([...faults, ...query.faults()]);
  return { reading, shape, idempotency };
}
