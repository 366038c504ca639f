/** Answers the requests for the authorization server: the bridge receives them as all others, and passes them on. */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { sendResponse } from '../http/send-response.ts';
import { MethodNotAllowed, toMethodsResponse } from '../pipeline/match.ts';
import {
  type Handled,
  type Listener,
  type ReceivedRequest,
  type ReceiverDependencies,
  createListener,
  sendError,
  toCommonHeaders,
} from '../pipeline/receive.ts';
import { type OAuthRoute, matchOAuth } from './paths.ts';
import { type OAuthProxy, createOAuthProxy } from './proxy.ts';

/** What the listener works with. */
export interface OAuthListenerOptions extends ReceiverDependencies {
  /** The origin of the users subgraph; undefined for a system without an authorization server. */
  readonly url: string | undefined;
  readonly timeoutMs: number;
}

/** Answers requests. */
export interface OAuthListener {
  /** Returns what answers the request; undefined when it is not one for the authorization server. */
  find(request: IncomingMessage): Listener | undefined;
  close(): Promise<void>;
}

/** Creates the listener. */
export function createOAuthListener({ url, timeoutMs, ...dependencies }: OAuthListenerOptions): OAuthListener {
  if (url === undefined) return { find: () => undefined, close: () => Promise.resolve() };
  const proxy = createOAuthProxy({ url, timeoutMs });
  const listener = createListener(dependencies, (received, response) => respond(proxy, received, response));
  return {
    find: ({ url: target = '' }) => (matchOAuth(target) ? listener : undefined),
    close: () => proxy.close(),
  };
}

async function respond(proxy: OAuthProxy, received: ReceivedRequest, response: ServerResponse): Promise<Handled> {
  const { request, requestId } = received.context;
  const { route, methods } = matchOAuth(request.url ?? '') as OAuthRoute;
  const common = toCommonHeaders(requestId);
  try {
    const method = request.method ?? '';
    const allow = [...methods.flatMap((each) => (each === 'GET' ? ['GET', 'HEAD'] : [each])), 'OPTIONS'].join(', ');
    if (method === 'OPTIONS') {
      const { status, headers } = toMethodsResponse(allow);
      sendResponse(request, response, { status, headers: { ...headers, ...common } });
      return { route };
    }
    if (!allow.split(', ').includes(method)) throw new MethodNotAllowed(method, allow);
    const { status, headers, content } = await proxy.forward(received);
    response.writeHead(status, { ...headers, ...common, 'content-length': String(content.length) });
    response.end(method === 'HEAD' ? undefined : content);
    return { route };
  } catch (error) {
    return { route, failure: await sendError(received.context, response, { error, headers: common }) };
  }
}
