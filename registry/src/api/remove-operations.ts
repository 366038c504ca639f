/** Removes operations that a client has registered, so that checks validate them no longer. */
import { rejectFaults } from '@trestle/schema/errors';
import { checkEnvironment, checkText } from '../publishing/input-rules.ts';
import type { Store } from '../store.ts';

/** Operations of a client, by the SHA-256 of their texts, in hexadecimal. */
export interface RemoveRequest {
  readonly environment: string;
  readonly client: string;
  readonly hashes: readonly string[];
}

/** What has become of the operations. */
export interface RemoveResult {
  readonly removed: number;
  /** The hashes of those that the client had not registered. */
  readonly unknown: readonly string[];
}

const MAX_HASHES = 1000;
const HASH = /^[0-9a-f]{64}$/;

/** Removes the operations that are registered, in one statement. Throws VALIDATION_ERROR that lists every faulty hash. */
export async function removeOperations({ environment, client, hashes }: RemoveRequest, store: Store): Promise<RemoveResult> {
  checkEnvironment(environment);
  checkText(client, { field: 'client', min: 1, max: 100 });
  const isCounted = hashes.length >= 1 && hashes.length <= MAX_HASHES;
  rejectFaults(isCounted ? [] : [{ field: 'hashes', message: `must have 1 to ${String(MAX_HASHES)} items` }]);
  const message = 'must be 64 hexadecimal digits in lower case';
  rejectFaults(hashes.flatMap((hash, i) => (HASH.test(hash) ? [] : [{ field: `hashes.${String(i)}`, message }])));
  const removed = new Set(await store.deleteOperations(environment, client, hashes));
  return { removed: removed.size, unknown: [...new Set(hashes)].filter((hash) => !removed.has(hash)) };
}
