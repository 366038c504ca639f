/** Decides whether what subgraphs return may depend on an extension. No I/O. */
import type { RequestContext } from '../request/context.ts';
import type { Hooks } from './compile-hooks.ts';

/**
 * Returns whether a hook may set headers of single fetches, or refuse them, by what it knows of the request. These headers are no part of the identity,
 * so a result of this request must be neither kept nor given to another client.
 */
export function mayChangeFetches(
  { extended }: Pick<RequestContext, 'extended'>,
  { onSubgraphRequest }: Pick<Hooks, 'onSubgraphRequest'>,
): boolean {
  return onSubgraphRequest !== undefined && extended !== undefined;
}
