/** Stage 3: what is asked for, with every fault told at once (spec §7.2). */
import type { IncomingMessage } from 'node:http';
import { type FieldFault, rejectFaults } from '@trestle/schema/errors';
import { readJsonBody, requireJson } from '../http/body.ts';
import type { Prepared } from '../operations.ts';
import { createParameters } from '../query/parameters.ts';
import { readShape } from '../query/shape.ts';
import type { Reading } from '../routes/row.ts';
import type { Matched } from './match.ts';

export interface Parsed {
  readonly reading: Reading;
  readonly prepared: Prepared;
}

/** Throws VALIDATION_ERROR with all faults of query and body, UNSUPPORTED_MEDIA_TYPE or PAYLOAD_TOO_LARGE. */
export async function parse({ compiled, params, search }: Matched, request: IncomingMessage): Promise<Parsed> {
  const { row, read, prepare } = compiled;
  const faults: FieldFault[] = [];
  if (row.takesBody) requireJson(request);
  const body = row.takesBody ? await readJsonBody(request) : undefined;
  const query = createParameters(search);
  const reading = read({ params, query, body }, faults);
  const shape = readShape(query, row.resource, faults);
  rejectFaults([...faults, ...query.faults()]);
  return { reading, prepared: prepare(shape) };
}
