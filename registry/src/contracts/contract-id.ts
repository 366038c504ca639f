/** The ids of contracts' schemas: hashes of what they are made of, so that a schema is made once. No I/O. */
import { createHash } from 'node:crypto';
import { CONTRACT_RULES } from '@trestle/graph-checks/contracts';
import type { Filter } from '../contract-records.ts';

/** Returns the id of what a filter makes of a launch, whatever the contract is called. */
export function contractSchemaIdOf(launchId: string, { include, exclude, removeUnreachableTypes }: Filter): string {
  return createHash('sha256')
    .update(JSON.stringify([CONTRACT_RULES, launchId, include, exclude, removeUnreachableTypes]))
    .digest('hex');
}
