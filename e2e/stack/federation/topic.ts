/** Values that test subgraphs publish: a subscriber gets those that are published after it subscribed. */
import { EventEmitter, on } from 'node:events';

export interface Topic<T> {
  publish(value: T): void;
  /** What a `subscribe` resolver gives. */
  listen(): AsyncIterableIterator<T>;
  readonly listeners: number;
}

export function createTopic<T>(): Topic<T> {
  const emitter = new EventEmitter();
  emitter.setMaxListeners(0);
  return {
    publish(value) {
      emitter.emit('said', value);
    },
    listen() {
      const said = on(emitter, 'said') as AsyncIterableIterator<[T]>;
      const iterator: AsyncIterableIterator<T> = {
        [Symbol.asyncIterator]: () => iterator,
        next: async () => {
          const next = await said.next();
          return next.done ? { done: true, value: undefined } : { done: false, value: next.value[0] };
        },
        return: async () => {
          await said.return?.();
          return { done: true, value: undefined };
        },
      };
      return iterator;
    },
    get listeners() {
      return emitter.listenerCount('said');
    },
  };
}
