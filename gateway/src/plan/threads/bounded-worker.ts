/** Starts worker threads whose heaps are bounded, the young generation too. */
import { setFlagsFromString } from 'node:v8';
import { Worker } from 'node:worker_threads';

export interface HeapLimits {
  /** The largest old generation, in MB; a thread that needs more exits, and the process goes on. */
  readonly maxHeapMb: number;
  /** The largest young generation, in MB. */
  readonly youngHeapMb: number;
}

/**
 * Starts a thread that does not keep the process alive. V8 ignores a thread's own limit of the young generation while `--max-semi-space-size` is set, as
 * packages/service/node.env does for the process. So the flag is cleared. A heap reads it once, in its own thread and some time after this call, so it
 * cannot be restored; heaps that exist keep their size.
 */
export function startBoundedWorker(file: URL, workerData: unknown, { maxHeapMb, youngHeapMb }: HeapLimits): Worker {
  setFlagsFromString('--max-semi-space-size=0');
  const resourceLimits = { maxOldGenerationSizeMb: maxHeapMb, maxYoungGenerationSizeMb: youngHeapMb };
  const worker = new Worker(file, { workerData, resourceLimits });
  worker.unref();
  return worker;
}
