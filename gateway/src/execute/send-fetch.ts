/** Sends the fetches of an operation to their subgraphs, each within a span. */
import { toPostAttributes } from '@trestle/telemetry/http';
import type { Upstream } from '../upstream/upstream.ts';
import type { SendFetch } from './execute.ts';

/** Returns the subgraph of a name; undefined for one without an address. */
export type FindUpstream = (service: string) => Upstream | undefined;

/** `guard` calls the callbacks of fetches: an exception in a callback must end its request, not the process. */
export function createSendFetch(findUpstream: FindUpstream, guard: (act: () => void) => void): SendFetch {
  return (fetch, done) => {
    const upstream = findUpstream(fetch.service);
    if (!upstream) {
      done({ code: 'UPSTREAM_ERROR', message: `The subgraph ${fetch.service} has no address.`, cause: undefined }, {});
      return;
    }
    const { context } = fetch;
    const call = context.trace?.startCall('POST', { ...toPostAttributes(upstream.url), 'trestle.subgraph': fetch.service });
    upstream.send(
      call ? { ...fetch, context: { ...context, headers: [...context.headers, ...Object.entries(call.toHeaders()).flat()] } } : fetch,
      (failure, result) => {
        call?.end({}, failure?.code);
        guard(() => {
          done(failure, result);
        });
      },
    );
  };
}
