/** Sends the fetches of an operation to their subgraphs, each within a span. */
import type { Scope } from '@trestle/telemetry';
import { toResponseAttributes } from '@trestle/telemetry/http';
import type { UpstreamRequest } from '../upstream/upstream-target.ts';
import type { Upstream } from '../upstream/upstream.ts';
import type { Hooks } from '../extensions/compile-hooks.ts';
import { type ReceivedResponse, toSubgraphRequestEvent, toSubgraphResponseEvent } from '../extensions/events.ts';
import type { FetchDone } from '../program/result.ts';
import type { FetchRequest, SendFetch } from './execute.ts';

/** Returns the subgraph of a name; undefined for one without an address. */
export type FindUpstream = (service: string) => Upstream | undefined;

/** The hooks of fetches. */
export type FetchHooks = Pick<Hooks, 'onSubgraphRequest' | 'onSubgraphResponse'>;

/** `guard` calls the callbacks of fetches: an exception in a callback must end its request, not the process. */
export function createSendFetch(findUpstream: FindUpstream, guard: (act: () => void) => void, hooks: FetchHooks): SendFetch {
  const send = createSend(findUpstream, guard);
  return hooks.onSubgraphRequest || hooks.onSubgraphResponse ? extend(send, { findUpstream, guard, hooks }) : send;
}

function createSend(findUpstream: FindUpstream, guard: (act: () => void) => void): SendExtended {
  return (fetch, done) => {
    const upstream = findUpstream(fetch.service);
    if (!upstream) {
      done({ code: 'UPSTREAM_ERROR', message: `The subgraph ${fetch.service} has no address.`, cause: undefined }, {});
      return;
    }
    const guarded: FetchDone = (failure, result) => {
      guard(() => {
        done(failure, result);
      });
    };
    if (fetch.context.trace) sendTraced(upstream, fetch, { trace: fetch.context.trace, done: guarded });
    else upstream.send(fetch, guarded);
  };
}

/** Sends a fetch with the headers of its trace: within a span of its own when the trace is exported. */
function sendTraced(
  upstream: Upstream,
  fetch: Parameters<SendExtended>[0],
  { trace, done }: { readonly trace: Scope; readonly done: FetchDone },
): void {
  if (!trace.isExported) {
    upstream.send(addHeaders(fetch, trace.headers), done);
    return;
  }
  const call = trace.startCall('POST', upstream.spanAttributes);
  let status: number | undefined;
  const onResponse = (response: ReceivedResponse) => {
    status = response.status;
    fetch.onResponse?.(response);
  };
  upstream.send(addHeaders(fetch, call.headers, onResponse), (failure, result) => {
    call.end(toResponseAttributes(status), failure?.code);
    done(failure, result);
  });
}

/** Returns the fetch with further headers before the rules. Names each property, because a copy of an object of unknown shape is slow. */
function addHeaders(
  fetch: Parameters<SendExtended>[0],
  added: Readonly<Record<string, string>>,
  onResponse: UpstreamRequest['onResponse'] = fetch.onResponse,
): UpstreamRequest {
  const { isMutation, body, files, headers, take } = fetch;
  const { client, identity, mutationHeaders, cancellation, fetchLog, upload } = fetch.context;
  const all = [...fetch.context.headers];
  for (const name in added) all.push(name, added[name] as string);
  const context = { client, identity, headers: all, mutationHeaders, cancellation, fetchLog, upload };
  return { body, isMutation, context, files, headers, take, onResponse };
}

/** Sends a fetch with what extensions add to it. */
type SendExtended = (fetch: FetchRequest & Pick<UpstreamRequest, 'headers' | 'onResponse'>, done: FetchDone) => void;

interface ExtendOptions {
  readonly findUpstream: FindUpstream;
  readonly guard: (act: () => void) => void;
  readonly hooks: FetchHooks;
}

/** Returns the same with the hooks around each fetch. */
function extend(send: SendExtended, { findUpstream, guard, hooks }: ExtendOptions): SendFetch {
  const { onSubgraphRequest, onSubgraphResponse } = hooks;
  const sendObserved: SendExtended = (fetch, done) => {
    if (!onSubgraphResponse) {
      send(fetch, done);
      return;
    }
    const startedAt = performance.now();
    let isAnswered = false;
    const onResponse = (response: ReceivedResponse) => {
      isAnswered = true;
      fetch.onResponse?.(response);
      onSubgraphResponse(toSubgraphResponseEvent(fetch, startedAt, response));
    };
    const { service, isMutation, body, context, files, headers, take } = fetch;
    // Names each property, because a copy of an object of unknown shape is slow.
    send({ service, isMutation, body, context, files, headers, take, onResponse }, (failure, result) => {
      if (failure && !isAnswered) onSubgraphResponse(toSubgraphResponseEvent(fetch, startedAt, failure));
      done(failure, result);
    });
  };
  return (fetch, done) => {
    const upstream = findUpstream(fetch.service);
    if (!onSubgraphRequest || !upstream) {
      sendObserved(fetch, done);
      return;
    }
    const added: string[] = [];
    onSubgraphRequest(toSubgraphRequestEvent(fetch, upstream.url, added), (fault) => {
      guard(() => {
        if (fault) done({ code: fault.code, message: fault.message, cause: fault.cause }, {});
        else sendObserved(added.length === 0 ? fetch : { ...fetch, headers: added }, done);
      });
    });
  };
}
