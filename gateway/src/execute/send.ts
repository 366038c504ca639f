/** Takes the fetches of an operation to the subgraphs of one snapshot. */
import { toPostAttributes } from '@trestle/telemetry/http';
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
    const call = context.trace?.startCall('POST', { ...toPostAttributes(upstream.url), 'trestle.subgraph': fetch.service });
    upstream.send(
      call ? { ...fetch, context: { ...context, headers: [...context.headers, ...Object.entries(call.toHeaders()).flat()] } } : fetch,
      (failure, answer) => {
        call?.end({}, failure?.code);
        guard(() => {
          done(failure, answer);
        });
      },
    );
  };
}
