/** Several operations in one request, if that is allowed: each is run and answered for itself, all at the same time. */
import { Fault, fail } from '@trestle/schema/errors';
import type { EngineReply } from '../../engines/engine.ts';
import { type Parameters, readParameters } from '../../request/parameters.ts';

export interface BatchOptions {
  readonly items: readonly unknown[];
  readonly limit: number;
  readonly respond: (parameters: Parameters, done: (reply: EngineReply) => void) => void;
}

/** Calls back once with the answers in the order of the operations. Throws VALIDATION_ERROR for a batch that is not allowed. */
export function createBatch({ items, limit, respond }: BatchOptions, done: (reply: EngineReply) => void): void {
  if (limit <= 1) throw fail('VALIDATION_ERROR', 'Batches are switched off: send one operation');
  if (items.length === 0) throw fail('VALIDATION_ERROR', 'The batch is empty');
  if (items.length > limit)
    throw fail('VALIDATION_ERROR', `The batch has ${String(items.length)} operations; the limit is ${String(limit)}`);
  const texts = new Array<string>(items.length);
  let open = items.length;
  const settle = (i: number, text: string) => {
    texts[i] = text;
    if (--open > 0) return;
    const bytes = Buffer.from(`[${texts.join(',')}]`);
    done({
      outcome: 'complete',
      status: undefined,
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
        throw fail('VALIDATION_ERROR', 'Each operation must be a JSON object');
      respond(readParameters(item as Record<string, unknown>), (reply) => {
        const text = reply.bytes.toString('utf8', 0, reply.length);
        reply.release?.();
        settle(i, text);
      });
    } catch (error) {
      if (!(error instanceof Fault)) throw error;
      const { message, code, details } = error;
      settle(i, JSON.stringify({ errors: [{ message, extensions: { code, ...(details && { details }) } }] }));
    }
  });
}
