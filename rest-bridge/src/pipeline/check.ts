/** Stage 7: what the write's own SQL has to find first (RFC 9110 §13). */
import type { IncomingHttpHeaders } from 'node:http';
import { Fault, fail } from '@trestle/schema/errors';
import { type Found, readWriteConditions, toExpectedVersions } from '../http/conditional.ts';
import { type Asked, call } from './call.ts';
import type { CompiledOperation } from './compile.ts';

const BARE = { fields: [], include: [] };

export interface CheckRequest {
  readonly headers: IncomingHttpHeaders;
  readonly asked: Asked;
}

/**
 * The versions that the write may find; undefined accepts any. Versions from `If-Match` travel as they are. Any other condition needs
 * a look at the resource first, and then pins the version that was seen: what changes in between fails in SQL.
 */
export async function check(compiled: CompiledOperation, { headers, asked }: CheckRequest): Promise<readonly number[] | undefined> {
  if (!compiled.guard) return undefined;
  const conditions = readWriteConditions(headers);
  const { expectedVersions, mustExist, unmodifiedSince, noneMatch } = conditions;
  if (!mustExist && unmodifiedSince === undefined && noneMatch === undefined) return expectedVersions;
  return toExpectedVersions(conditions, await look(compiled, asked));
}

/** A faulty write is told so only if its resource is there and no condition failed: 404 and 412 beat 400. Always throws. */
export async function refuseFaulty(
  error: unknown,
  { compiled, headers, asked }: CheckRequest & { readonly compiled: CompiledOperation },
): Promise<never> {
  if (compiled.guard && error instanceof Fault && error.code === 'VALIDATION_ERROR') {
    const found = await look(compiled, asked);
    if (toExpectedVersions(readWriteConditions(headers), found).length === 0)
      throw fail('PRECONDITION_FAILED', 'The resource has another version than expected');
  }
  throw error;
}

/** Throws NOT_FOUND or GONE, unless the write would make what is missing. */
async function look({ guard, row }: CompiledOperation, asked: Asked): Promise<Found> {
  if (!guard) throw new Error(`Nothing reads what ${row.path} changes`);
  try {
    const { root } = await call({ ...asked, idempotency: undefined }, { prepare: guard, shape: BARE, isMutation: false });
    const { _version, _changedAt } = root as { _version: number; _changedAt?: string };
    return { version: _version, changedAt: _changedAt };
  } catch (error) {
    if (row.mayCreate && error instanceof Fault && error.code === 'NOT_FOUND') return { version: 0, changedAt: undefined };
    throw error;
  }
}
