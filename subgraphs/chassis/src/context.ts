/** What every resolver is told of the request it works for. */
import type { Caller } from '@trestle/identity';
import { fail } from '@trestle/schema/errors';

/** A guarded field that showed its mask in this response: where first, and how often. */
export interface Denial {
  readonly coordinate: string;
  readonly requires: string;
  readonly path: readonly (string | number)[];
  count: number;
}

export interface RequestContext {
  /** Who is calling; null for anonymous callers. */
  readonly caller: Caller | null;
  readonly requestId: string;
  /** By field coordinate; filled by the auth directive, told to the client at the end. */
  readonly denials: Map<string, Denial>;
}

/** The caller of a request that needs one. Throws UNAUTHORIZED for anonymous callers (spec §5.7). */
export function requireCaller({ caller }: RequestContext): Caller {
  if (!caller) throw fail('UNAUTHORIZED', 'Authentication is required');
  return caller;
}
