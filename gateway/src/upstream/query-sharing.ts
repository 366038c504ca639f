/**
 * Sends a query once to its subgraph while equal ones are in flight, and gives the response to all of them. Equal are path, body and all headers, the
 * caller's credential among them, but for those that name the single request.
 */
import type { Abortable } from '@trestle/service/process/cancellation';
import { listTraceHeaders } from '@trestle/telemetry/propagator-names';
import {
  ClientError,
  type ClientRequest,
  type ClientResponse,
  type ResponseHandler,
  type UpstreamClient,
} from '@trestle/http-client/upstream-client';

/** Headers that do not change a result. */
const OF_ONE_REQUEST: ReadonlySet<string> = new Set([
  'x-request-id',
  // Not `baggage`, which a subgraph may read.
  ...listTraceHeaders(['tracecontext', 'b3', 'jaeger']),
]);
/** In UTF-16 code units. To compare a larger body costs more than it can save. */
const MAX_BODY_LENGTH = 64 * 1024;

/** The queries that are in flight, of all subgraphs. */
export class QuerySharing {
  readonly #flights = new Map<string, Flight>();
  #clients = 0;

  /** Returns a client that sends by `client`, and calls `onShared` for each request that gets the response of another one. */
  wrap(client: UpstreamClient, onShared: () => void): UpstreamClient {
    const prefix = `${String(this.#clients++)}\n`;
    return {
      send: (request, handler) => {
        if (request.isQuery !== true || request.body.length > MAX_BODY_LENGTH) return client.send(request, handler);
        const key = prefix + toKey(request);
        const known = this.#flights.get(key);
        if (known) {
          onShared();
          return known.join(handler);
        }
        const flight = new Flight(() => {
          if (this.#flights.get(key) === flight) this.#flights.delete(key);
        });
        this.#flights.set(key, flight);
        const joined = flight.join(handler);
        flight.begin(client, request);
        return joined;
      },
      readCounts: () => client.readCounts(),
      retire: () => client.retire(),
      close: () => client.close(),
    };
  }

  /** Lets no later query share the response of one that was sent before: what it reads may have changed since. */
  forget(): void {
    this.#flights.clear();
  }
}

function toKey({ path, headers, body }: ClientRequest): string {
  let key = path;
  for (let i = 0; i < headers.length; i += 2) {
    const name = (headers[i] as string).toLowerCase();
    if (!OF_ONE_REQUEST.has(name)) key += `\n${name}:${headers[i + 1] as string}`;
  }
  return `${key}\n\n${body}`;
}

/** A request that was sent, and those that wait for its response. */
class Flight implements ResponseHandler {
  readonly #handlers = new Set<ResponseHandler>();
  readonly #onEnd: () => void;
  #sent: Abortable | undefined;

  constructor(onEnd: () => void) {
    this.#onEnd = onEnd;
  }

  begin(client: UpstreamClient, request: ClientRequest): void {
    this.#sent = client.send(request, this);
  }

  /** Returns what aborts the wait of this handler; the request is aborted with the last one. */
  join(handler: ResponseHandler): Abortable {
    this.#handlers.add(handler);
    return {
      abort: (reason) => {
        if (!this.#handlers.delete(handler)) return;
        if (this.#handlers.size === 0) {
          this.#onEnd();
          this.#sent?.abort(reason);
        }
        handler.onFailure(new ClientError('ABORTED', 'The request was aborted', { cause: reason }));
      },
    };
  }

  onResponse(response: ClientResponse): void {
    this.#onEnd();
    for (const handler of this.#handlers) {
      this.#handlers.delete(handler);
      handler.onResponse(response);
    }
  }

  onFailure(error: ClientError): void {
    this.#onEnd();
    let isShared = false;
    for (const handler of this.#handlers) {
      this.#handlers.delete(handler);
      const { code, message, progress } = error;
      handler.onFailure(isShared ? new ClientError(code, message, { progress, cause: error, isShared }) : error);
      isShared = true;
    }
  }
}
