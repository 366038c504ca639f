/** Several operations in one request: they run concurrently, each with its own result. */
import { Fault, fail } from '@trestle/schema/errors';
import type { OperationResult } from '../../request/operation.ts';
import { formatFault } from '../../errors/format-fault.ts';
import { type Parameters, readParameters } from '../../request/parameters.ts';

export interface BatchOptions {
  readonly items: readonly unknown[];
  /** The most operations; 1 disables batches. */
  readonly limit: number;
  readonly requestId: string;
  readonly run: (parameters: Parameters, done: (result: OperationResult) => void) => void;
}

/** Calls back once with the results in the order of the operations. Throws VALIDATION_ERROR for a batch that is empty, too large or not enabled. */
export function runBatch({ items, limit, requestId, run }: BatchOptions, done: (result: OperationResult) => void): void {
  if (limit <= 1) throw fail('VALIDATION_ERROR', 'Batching is disabled. Send one operation.');
  if (items.length === 0) throw fail('VALIDATION_ERROR', 'The batch is empty. Send at least one operation.');
  if (items.length > limit) throw fail('VALIDATION_ERROR', `Batch size ${String(items.length)} exceeds the limit of ${String(limit)}.`);
  const texts = new Array<string>(items.length);
  let open = items.length;
  const settle = (i: number, text: string) => {
    texts[i] = text;
    if (--open > 0) return;
    const bytes = Buffer.from(`[${texts.join(',')}]`);
    done({
      outcome: 'complete',
      status: undefined,
      challenge: undefined,
      operationKind: undefined,
      operationName: undefined,
      bytes,
      length: bytes.length,
      release: undefined,
    });
  };
  items.forEach((item, i) => {
    try {
      if (typeof item !== 'object' || item === null || Array.isArray(item))
        throw fail('VALIDATION_ERROR', 'Each operation of a batch must be a JSON object.');
      run(readParameters(item as Record<string, unknown>), (result) => {
        const text = result.bytes.toString('utf8', 0, result.length);
        result.release?.();
        settle(i, text);
      });
    } catch (error) {
      if (!(error instanceof Fault)) throw error;
      settle(i, JSON.stringify({ errors: [formatFault(error, requestId)] }));
    }
  });
}
