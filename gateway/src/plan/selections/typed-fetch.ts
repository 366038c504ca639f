/** A fetch of a plan that is for entities of some types only. */
import type { FetchNode } from '@apollo/query-planner';

/** A fetch with the names that `__typename` of its entities may have; undefined for any. */
export type TypedFetch = FetchNode & { readonly onlyFor?: ReadonlySet<string> };
