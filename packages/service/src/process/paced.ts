/** Runs small pieces of work that can come by the thousand at once, such as the ends of connections, so that requests are handled between them. */

/** How long the pieces of one iteration of the event loop may take together. */
const SLICE_MS = 2;

const waiting: (() => void)[] = [];

/** Runs `work` in a later iteration of the event loop, in the order of the calls. */
export function runPaced(work: () => void): void {
  waiting.push(work);
  if (waiting.length === 1) setImmediate(runSlice);
}

/** Runs at least one piece. The rest waits for the next iteration, which handles what has arrived meanwhile first. */
function runSlice(): void {
  const startedAt = performance.now();
  let done = 0;
  try {
    do waiting[done++]?.();
    while (done < waiting.length && performance.now() - startedAt < SLICE_MS);
  } finally {
    waiting.splice(0, done);
    if (waiting.length > 0) setImmediate(runSlice);
  }
}
