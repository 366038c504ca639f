/** Stage 4: in which media type the answer goes out (RFC 9110 §12.5.1, contract §4). No I/O. */
import { fail } from '@trestle/schema/errors';
import { accepts, readAccept } from '../http/accept.ts';
import type { CompiledAlternative, CompiledRow } from './compile.ts';

/** Undefined stands for JSON, or for the one type that a document has. Throws NOT_ACCEPTABLE. */
export function negotiate(compiled: CompiledRow, accept: string | undefined, version: number): CompiledAlternative | undefined {
  const { row } = compiled;
  if (accept === undefined || accept === '*/*' || (accept === 'application/json' && 'operation' in row)) return undefined;
  const ranges = readAccept(accept);
  const qualityOf = (...types: readonly string[]) => Math.max(...types.map((type) => accepts(ranges, type)));
  if (!('operation' in row)) {
    if (row.types.includes('*/*') || qualityOf(...row.types) > 0) return undefined;
    throw fail('NOT_ACCEPTABLE', `This is there as ${row.types.join(' or ')}`);
  }
  const own = ['application/json'];
  // Whoever asks for problem documents does so for errors; there is no other success for him (RFC 9457).
  const plain = qualityOf(...own, `application/vnd.trestle.v${String(version)}+json`, 'application/problem+json');
  const alternatives = 'alternatives' in compiled ? compiled.alternatives : [];
  const [best] = alternatives
    .map((alternative) => ({ alternative, quality: qualityOf(alternative.type) }))
    .filter(({ quality }) => quality > plain);
  if (best) return best.alternative;
  if (plain > 0) return undefined;
  throw fail('NOT_ACCEPTABLE', `This is there as ${[...own, ...alternatives.map(({ type }) => type)].join(' or ')}`);
}

/** Whether errors go out as problem documents: only when the client takes no other JSON (RFC 9457, contract §4). */
export function wantsProblem(accept: string | undefined): boolean {
  if (!accept?.includes('problem+json')) return false;
  const ranges = readAccept(accept);
  return accepts(ranges, 'application/problem+json') > 0 && accepts(ranges, 'application/json') === 0;
}
