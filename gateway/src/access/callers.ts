/** The rights of callers, computed once for each caller and shared by callers with the same rights. */
import type { Caller } from '@trestle/identity';
import { type Access, NO_ACCESS } from './access-rule.ts';
import type { Policies } from './policies.ts';

/** Returns the rights of a caller; an anonymous caller has none. */
export type AccessOf = (caller: Caller | null) => Access;

/** The most different rights that are kept; then all are forgotten, and computed anew. */
const MAX_KEPT = 1000;

/** Creates the function. A verified token keeps its `Caller`, so that the rights of a token are computed once. */
export function createAccessOf(policies: Policies): AccessOf {
  const byCaller = new WeakMap<Caller, Access>();
  const byRights = new Map<string, Access>();
  return (caller) => {
    if (!caller) return NO_ACCESS;
    const known = byCaller.get(caller);
    if (known) return known;
    const access: Access = { isAuthenticated: true, scopes: caller.scopes, policies: policies.findFor(caller) };
    const key = JSON.stringify([[...access.scopes].sort(), [...access.policies].sort()]);
    if (byRights.size >= MAX_KEPT) byRights.clear();
    const shared = byRights.get(key) ?? access;
    byRights.set(key, shared);
    byCaller.set(caller, shared);
    return shared;
  };
}
