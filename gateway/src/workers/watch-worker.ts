/**
 * Kills a worker that no longer responds, such as one whose extension computes without end: the probes of the gateway are answered by the other
 * workers, so that nothing else would notice it. It is replaced then, as any worker that ends.
 */
import type { Worker } from 'node:cluster';
import type { Log } from '@trestle/log';
import type { FromPrimary } from './messages.ts';

const PING_MS = 5000;
/** Pings and not milliseconds are counted: a machine that was suspended has sent none. */
const MAX_UNANSWERED = 4;

/** Follows the worker once it listens, because its start may take long. Returns the function that is called for each of its replies. */
export function watchWorker(worker: Worker, send: (worker: Worker, message: FromPrimary) => void, log: Log): () => void {
  let unanswered = 0;
  const ping = () => {
    if (unanswered < MAX_UNANSWERED) {
      unanswered++;
      send(worker, { kind: 'ping' });
      return;
    }
    log.error('a worker does not respond, and is killed', { worker: worker.id });
    worker.process.kill('SIGKILL');
  };
  worker.once('listening', () => {
    const timer = setInterval(ping, PING_MS);
    worker.once('exit', () => {
      clearInterval(timer);
    });
  });
  return () => {
    unanswered = 0;
  };
}
