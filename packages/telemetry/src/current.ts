/** The span within which the present asynchronous work runs, for code that is not given it: resolvers and SQL statements. */
import { AsyncLocalStorage } from 'node:async_hooks';
import type { Scope } from './scope.ts';

interface Holder {
  scope: Scope;
}

const storage = new AsyncLocalStorage<Holder>();

/** Calls `act`; until all that it starts has ended, {@link currentScope} returns `scope` there. */
export function runWithin(scope: Scope, act: () => void): void {
  storage.run({ scope }, act);
}

/** Replaces the current span, for the rest of the work that {@link runWithin} started. Does nothing outside of it. */
export function enter(scope: Scope): void {
  const holder = storage.getStore();
  if (holder) holder.scope = scope;
}

/** Returns the current span, or undefined when spans are not exported or no request is being worked on. */
export function currentScope(): Scope | undefined {
  return storage.getStore()?.scope;
}
