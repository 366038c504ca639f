/** The open operations of one WebSocket, bounded in number and in the bytes of their messages. */
import { toLimitFault } from '@trestle/schema/limit-fault';
import { type Fault, fail } from '@trestle/schema/errors';
import type { ConnectionOptions } from './connection-options.ts';
import { type Channel, SocketOperation } from './socket-operation.ts';

export class SocketOperations {
  readonly #limits: Pick<ConnectionOptions, 'maxOperations' | 'maxMessageBytes'>;
  readonly #channel: Omit<Channel, 'remove'>;
  readonly #byId = new Map<string, SocketOperation>();
  /** Bytes of the messages that open operations began with: they are kept as long. */
  #heldBytes = 0;
  #isDraining = false;

  constructor(limits: Pick<ConnectionOptions, 'maxOperations' | 'maxMessageBytes'>, channel: Omit<Channel, 'remove'>) {
    this.#limits = limits;
    this.#channel = channel;
  }

  has(id: string): boolean {
    return this.#byId.has(id);
  }

  /** Adds an operation whose message has this many bytes. It is refused, and undefined is returned, beyond the limits. */
  add(id: string, bytes: number): SocketOperation | undefined {
    const operation = new SocketOperation(id, {
      ...this.#channel,
      remove: () => {
        if (this.#byId.delete(id)) this.#heldBytes -= bytes;
      },
    });
    this.#byId.set(id, operation);
    this.#heldBytes += bytes;
    const refusal = this.#findRefusal();
    if (!refusal) return operation;
    operation.refuse(refusal);
    return undefined;
  }

  /** Makes {@link add} refuse every operation. */
  beginDraining(): void {
    this.#isDraining = true;
  }

  /** Ends the operations after every event received so far has been sent; calls back when all have ended. */
  finish(done: () => void): void {
    let open = this.#byId.size + 1;
    const settle = () => {
      if (--open === 0) done();
    };
    for (const operation of [...this.#byId.values()]) operation.finish(settle);
    settle();
  }

  /** Stops the operation with this id, if there is one. */
  stop(id: string): void {
    this.#byId.get(id)?.stop('stopped');
  }

  stopAll(cause: string): void {
    for (const operation of [...this.#byId.values()]) operation.stop(cause);
    this.#byId.clear();
  }

  /** Returns why the operation that was added last must not run. */
  #findRefusal(): Fault | undefined {
    const { maxOperations, maxMessageBytes } = this.#limits;
    if (this.#isDraining) return fail('SERVICE_UNAVAILABLE', 'The server is shutting down.');
    if (this.#byId.size > maxOperations)
      return toLimitFault(`The connection has reached its limit of ${String(maxOperations)} operations.`, { limit: maxOperations });
    if (this.#heldBytes > maxMessageBytes)
      return toLimitFault(`The open operations of the connection exceed the limit of ${String(maxMessageBytes)} bytes.`, {
        limit: maxMessageBytes,
      });
    return undefined;
  }
}
