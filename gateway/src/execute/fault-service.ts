/** Finds the subgraph that has sent a value which violates the schema. Used for faults only: it searches the whole plan. */
import { listFetches } from '../program/list-fetches.ts';
import type { FetchStep, Program } from '../program/program.ts';
import type { ErrorPath } from '../program/result.ts';

/** Returns the name of the subgraph whose fetch has the field at a path; undefined where those of several subgraphs may have it. */
export function createFaultSearch({ source, plan }: Pick<Program, 'source' | 'plan'>): (path: ErrorPath) => string | undefined {
  const fetches = [...(source ? [source] : []), ...listFetches(plan)];
  // Elements of one list have the same subgraph, and there may be very many.
  const known = new Map<string, string | undefined>();
  return (path) => {
    const pattern = path.map((segment) => (typeof segment === 'number' ? '@' : segment));
    const key = JSON.stringify(pattern);
    if (!known.has(key)) known.set(key, findService(fetches, pattern));
    return known.get(key);
  };
}

/** The fetch with the longest path has it: fetches of entities add fields to the objects of others. */
function findService(fetches: readonly FetchStep[], pattern: readonly string[]): string | undefined {
  let longest = -1;
  let services = new Set<string>();
  for (const { service, keys, paths } of fetches)
    for (const path of paths) {
      const next = pattern[path.length];
      if (path.length < longest || next === undefined || !keys.includes(next) || path.some((segment, i) => segment !== pattern[i]))
        continue;
      if (path.length > longest) [longest, services] = [path.length, new Set()];
      services.add(service);
    }
  return services.size === 1 ? [...services][0] : undefined;
}
