/** The current span of an asynchronous context, for code that does not receive it as a parameter: resolvers and SQL statements. */
import { AsyncLocalStorage } from 'node:async_hooks';
import type { Scope } from './scope.ts';

interface Holder {
  scope: Scope;
}

const storage = new AsyncLocalStorage<Holder>();

/** Calls `callback` in a new asynchronous context, in which {@link currentScope} returns `scope`. */
export function runWithin(scope: Scope, callback: () => void): void {
  storage.run({ scope }, callback);
}

/** Replaces the current span of the asynchronous context that {@link runWithin} created. Does nothing outside of one. */
export function enter(scope: Scope): void {
  const holder = storage.getStore();
  if (holder) holder.scope = scope;
}

/** Returns the current span, or undefined when spans are not exported or the code does not run for a request. */
export function currentScope(): Scope | undefined {
  return storage.getStore()?.scope;
}
