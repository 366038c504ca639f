/** Chooses media types by the `Accept` header (RFC 9110 §12.5.1). No I/O. */
import Negotiator from 'negotiator';

/**
 * Returns those of `available` that the client accepts, the preferred one first: by weight, then by how exactly a range names the
 * type, then by the order of the header, then by the order of `available`. Without the header, and when it holds no media range at
 * all, every type is acceptable.
 *
 * `available` are media types with their parameters, such as `application/json; charset=utf-8`. A range that has parameters matches
 * only a type that has the same ones.
 */
export function toAcceptedTypes(accept: string | undefined, available: readonly string[]): readonly string[] {
  if (accept?.includes('/') !== true) return available;
  return new Negotiator({ headers: { accept } }).mediaTypes(available);
}

/** Returns the media ranges of the header without their parameters, the preferred one first; ranges of weight 0 are left out. */
export function toMediaRanges(accept: string): readonly string[] {
  return new Negotiator({ headers: { accept } }).mediaTypes();
}
