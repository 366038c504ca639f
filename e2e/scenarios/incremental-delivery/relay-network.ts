/** The network function of Relay that docs/gateway/incremental-delivery.md shows. */
import { meros } from 'meros/browser';
import {
  type GraphQLResponse,
  type GraphQLSingularResponse,
  Network,
  Observable,
  type RequestParameters,
  type Variables,
} from 'relay-runtime';

interface Part {
  readonly incremental?: readonly GraphQLSingularResponse[];
  readonly hasNext?: boolean;
}

const ACCEPT = 'multipart/mixed;deferSpec=20220824, application/json';

/** Relay takes each deferred fragment as a response of its own, and wants to know which one is the last. */
function toResponses({ incremental, hasNext = false, ...whole }: Part): GraphQLSingularResponse[] {
  const responses = incremental ?? [whole as GraphQLSingularResponse];
  const isFinal = (i: number) => !hasNext && i === responses.length - 1;
  return responses
    .filter((each) => 'data' in each || 'errors' in each)
    .map((each, i) => ({ ...each, extensions: { ...each.extensions, is_final: isFinal(i) } }));
}

export function createNetwork(url: string) {
  return Network.create(({ text }: RequestParameters, variables: Variables) =>
    Observable.create<GraphQLResponse>((sink) => {
      const cancelled = new AbortController();
      const request = async () => {
        const response = await fetch(url, {
          method: 'POST',
          headers: { 'content-type': 'application/json', accept: ACCEPT },
          body: JSON.stringify({ query: text, variables }),
          signal: cancelled.signal,
        });
        const parts = await meros(response);
        if (parts instanceof Response) sink.next(toResponses((await parts.json()) as Part));
        else
          for await (const { body } of parts as AsyncIterable<{ body: Part }>) {
            const responses = toResponses(body);
            if (responses.length > 0) sink.next(responses);
          }
      };
      request().then(
        () => {
          sink.complete();
        },
        (error: unknown) => {
          if (!cancelled.signal.aborted) sink.error(error as Error);
        },
      );
      return () => {
        cancelled.abort();
      };
    }),
  );
}
