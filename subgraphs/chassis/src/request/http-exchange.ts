/** What resolvers may know of the HTTP request behind a mutation, and what they may add to its response. */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { type PassedClient, passedClientOf } from '@trestle/service/clients/client-id';

/** The HTTP side of a request. Operations of a WebSocket have none. */
export interface HttpExchange {
  /** The header `Origin`. The gateway passes it on only when the origin is allowed. */
  readonly origin: string | undefined;
  /** The header `Cookie`. The gateway passes it on only with an allowed origin. */
  readonly cookie: string | undefined;
  /** The header `Authorization`, for requests to other subgraphs in the name of the caller. */
  readonly authorization: string | undefined;
  /** The header `User-Agent`. */
  readonly userAgent: string | undefined;
  /** The client, if a process of this system has passed it on. */
  readonly client: PassedClient | undefined;
  /** Sets the cookie of the response; a later call replaces it. */
  readonly setCookie: (cookie: string) => void;
}

/** Returns the HTTP side of a request. */
export function toHttpExchange(request: IncomingMessage, response: ServerResponse): HttpExchange {
  const { origin, cookie, authorization, 'user-agent': userAgent } = request.headers;
  return {
    origin,
    cookie,
    authorization,
    userAgent,
    client: passedClientOf(request),
    setCookie: (value) => {
      response.setHeader('set-cookie', value);
    },
  };
}
