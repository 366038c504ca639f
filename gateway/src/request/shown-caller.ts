/** What extensions see of a caller: a copy that they cannot change, because all requests with one token share its caller. */
import type { Caller } from '@trestle/identity';

export type ShownCaller = Readonly<Pick<Caller, 'userId' | 'role' | 'scopes' | 'clientId'>>;

/** A token that is used often is verified once, and its caller is copied once. */
const shown = new WeakMap<Caller, ShownCaller>();

/** Returns the copy. Its members cannot be set; its scopes throw a TypeError when they are changed. */
export function showCaller(caller: Caller): ShownCaller {
  const known = shown.get(caller);
  if (known) return known;
  const { userId, role, scopes, clientId } = caller;
  const copy = Object.freeze({ userId, role, scopes: freezeScopes(scopes), clientId });
  shown.set(caller, copy);
  return copy;
}

/** `Object.freeze` does not protect the elements of a set. */
function freezeScopes(scopes: ReadonlySet<string>): ReadonlySet<string> {
  const refuse = () => {
    throw new TypeError('Extensions may not change the scopes of a caller');
  };
  return Object.freeze(Object.assign(new Set(scopes), { add: refuse, delete: refuse, clear: refuse }));
}
