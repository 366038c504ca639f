/**
 * Closes the connections that were on their way to a worker when it was killed. The cluster module of Node.js keeps them open, and no process serves
 * them: their clients would wait without end.
 */
import type { Worker } from 'node:cluster';
import type { SendHandle } from 'node:child_process';

/** A message of the cluster module, which hands a connection over, or says that it has arrived. */
interface ClusterMessage {
  readonly cmd?: unknown;
  readonly act?: unknown;
  readonly seq?: unknown;
  readonly ack?: unknown;
}

/** Follows the connections that are handed to the worker. */
export function closeLostConnections(worker: Worker): void {
  const underway = new Map<unknown, SendHandle & { close(): void }>();
  const { process } = worker;
  const send = process.send.bind(process) as (...args: unknown[]) => boolean;
  const follow = (message: ClusterMessage, handle?: SendHandle, ...rest: unknown[]) => {
    if (message.cmd === 'NODE_CLUSTER' && message.act === 'newconn' && handle && 'close' in handle) underway.set(message.seq, handle);
    return send(message, handle, ...rest);
  };
  process.send = follow as typeof process.send;
  process.on('internalMessage', ({ ack }: ClusterMessage) => {
    if (ack !== undefined) underway.delete(ack);
  });
  worker.once('exit', () => {
    for (const handle of underway.values()) handle.close();
    underway.clear();
  });
}
