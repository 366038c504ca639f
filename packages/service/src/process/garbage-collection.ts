/** Garbage collections on demand, of the thread that calls. */
import { Session } from 'node:inspector';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

/** Returns V8's function `gc`, which contexts have that are created after the flag is set. Before Node.js 22, `NODE_OPTIONS` does not accept the flag. */
export function findCollector(): () => void {
  setFlagsFromString('--expose-gc');
  return runInNewContext('gc') as () => void;
}

/**
 * Returns a function that counts buffers which will be garbage soon, and collects the young generation after each `everyBytes` of them. V8 counts
 * bytes outside of its heap only when they are old, or when tens of megabytes are garbage.
 */
export function createBufferRelease(everyBytes: number): (bytes: number) => void {
  const collect = findCollector() as (options: { readonly type: 'minor' }) => void;
  let received = 0;
  return (bytes) => {
    received += bytes;
    if (received < everyBytes) return;
    received = 0;
    collect({ type: 'minor' });
  };
}

/**
 * Collects all garbage and makes the young generation as small as it was at the start, which `gc` does not. It takes two or more whole collections.
 * Only the inspector can ask V8 for this.
 */
export function shrinkHeap(): void {
  const session = new Session();
  session.connect();
  session.post('HeapProfiler.collectGarbage');
  // Within the call that has just returned, a disconnection would wait for itself.
  setImmediate(() => {
    session.disconnect();
  });
}
