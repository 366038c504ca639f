/** Takes the fetches of an operation to the subgraphs of one snapshot. */
import type { Snapshot } from '../supergraph/snapshot.ts';
import type { SendFetch } from './execute.ts';

/** `guard` runs what comes back: what goes wrong in a callback must end its request, not the process. */
export function createSend(snapshot: Snapshot, guard: (act: () => void) => void): SendFetch {
  return (fetch, done) => {
    const upstream = snapshot.upstream(fetch.service);
    if (!upstream) {
      done({ code: 'UPSTREAM_ERROR', message: `The subgraph ${fetch.service} has no address`, cause: undefined }, {});
      return;
    }
    const { context } = fetch;
    const traced = context.trace?.startFetch(fetch.service);
    upstream.send(
      traced ? { ...fetch, context: { ...context, headers: [...context.headers, ...traced.headers] } } : fetch,
      (failure, answer) => {
        traced?.end(failure?.code);
        guard(() => {
          done(failure, answer);
        });
      },
    );
  };
}
