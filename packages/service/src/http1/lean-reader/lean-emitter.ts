/**
 * The part of the interface of `EventEmitter` that handlers use of a request and its response. The objects live as long as one exchange, and have a few
 * listeners each: a list of them costs less than the tables, the wrappers of `once` and the removals of Node's class.
 */

type Name = string | symbol;
type Listener = (...args: never[]) => void;

interface Entry {
  readonly name: Name;
  readonly listener: Listener;
  readonly isOnce: boolean;
  isRemoved: boolean;
}

/** Calls its listeners in the order in which they were added. A listener that is added while an event is emitted gets the next one. */
export class LeanEmitter {
  #entries: Entry[] | undefined;

  on(name: Name, listener: Listener): this {
    (this.#entries ??= []).push({ name, listener, isOnce: false, isRemoved: false });
    return this;
  }

  once(name: Name, listener: Listener): this {
    (this.#entries ??= []).push({ name, listener, isOnce: true, isRemoved: false });
    return this;
  }

  /** Adds a listener for one event that is called before all others. */
  prependOnceListener(name: Name, listener: Listener): this {
    this.#entries = [{ name, listener, isOnce: true, isRemoved: false }, ...(this.#entries ?? [])];
    return this;
  }

  /** Removes the listener that was added last, if it was added several times. */
  off(name: Name, listener: Listener): this {
    const entry = this.#entries?.findLast((each) => each.name === name && each.listener === listener && !each.isRemoved);
    if (entry) entry.isRemoved = true;
    return this;
  }

  removeListener(name: Name, listener: Listener): this {
    return this.off(name, listener);
  }

  removeAllListeners(): this {
    if (this.#entries) for (const entry of this.#entries) entry.isRemoved = true;
    this.#entries = undefined;
    return this;
  }

  listenerCount(name: Name): number {
    return this.#entries?.filter((each) => each.name === name && !each.isRemoved).length ?? 0;
  }

  /** Calls the listeners of an event. Returns whether there was one. */
  emit(name: Name, value?: unknown): boolean {
    const entries = this.#entries;
    if (!entries) return false;
    const { length } = entries;
    let isHeard = false;
    for (let i = 0; i < length; i++) {
      const entry = entries[i] as Entry;
      if (entry.name !== name || entry.isRemoved) continue;
      if (entry.isOnce) entry.isRemoved = true;
      isHeard = true;
      entry.listener.call(this, value as never);
    }
    return isHeard;
  }
}
