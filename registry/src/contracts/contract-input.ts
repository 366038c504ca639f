/** What names and filters of contracts must be. Pure: no database, no clock. */
import { listFilterFaults } from '@trestle/graph-checks/contracts';
import { rejectFaults } from '@trestle/schema/errors';
import type { Filter } from '../contract-records.ts';

/** The most tags in one list. */
const MAX_TAGS = 100;
const NAME = /^[a-z][a-z0-9-]{0,63}$/;

/** Throws VALIDATION_ERROR unless the string can name a contract. */
export function checkContractName(name: string): void {
  const message = 'must have 1 to 64 lower-case letters, digits and hyphens, and begin with a letter';
  rejectFaults(NAME.test(name) ? [] : [{ field: 'name', message }]);
}

/** Returns the filter with each tag once, in order. Throws VALIDATION_ERROR that lists every fault. */
export function readFilter({ include, exclude, removeUnreachableTypes }: Filter): Filter {
  const filter = { include: [...new Set(include)].toSorted(), exclude: [...new Set(exclude)].toSorted(), removeUnreachableTypes };
  const tooMany = (['include', 'exclude'] as const).filter((field) => filter[field].length > MAX_TAGS);
  rejectFaults([
    ...tooMany.map((field) => ({ field, message: `must have at most ${String(MAX_TAGS)} tags` })),
    ...(tooMany.length > 0 ? [] : listFilterFaults(filter)),
  ]);
  return filter;
}
