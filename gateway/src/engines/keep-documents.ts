/** Keeps what is computed of documents, bounded in number and length: the oldest are removed first. */
import type { DocumentRequest } from '../supergraph/prepared-operations.ts';

const MAX_KEPT = 500;
/** The longest key, in characters; what is computed for a longer one is not kept. */
const MAX_KEPT_LENGTH = 20_000;

/** Returns the key of a request, which no other request has: names and texts may have any characters. */
export function documentKey({ operationName, query }: DocumentRequest): string {
  return JSON.stringify([operationName ?? null, query]);
}

/** Returns the value of a key, and computes it when it is not there. Nothing is kept when that throws. */
export function keep<T>(map: Map<string, T>, key: string, make: () => T): T {
  if (map.has(key)) return map.get(key) as T;
  const value = make();
  if (key.length > MAX_KEPT_LENGTH) return value;
  if (map.size >= MAX_KEPT) map.delete(map.keys().next().value ?? '');
  map.set(key, value);
  return value;
}
