/** Answers the requests for the authorization server: the bridge receives them as all others, and passes them on. */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { JSON_TYPE } from '../http/media-types.ts';
import { sendResponse } from '../http/send-response.ts';
import { MethodNotAllowed, toMethodsResponse } from '../pipeline/match.ts';
import {
  type Handled,
  type Listener,
  type ReceivedRequest,
  type ReceiverDependencies,
  type Respond,
  createListener,
  sendError,
  toCommonHeaders,
} from '../pipeline/receive.ts';
import type { RenderFault } from '../pipeline/render-error.ts';
import { toOAuthErrorBody } from './errors.ts';
import { type OAuthRoute, matchOAuth } from './paths.ts';
import { type OAuthProxy, createOAuthProxy, readBody } from './proxy.ts';

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
  const answer: Respond = (received, response) => respond(proxy, received, response);
  const pages = createListener(dependencies, { respond: answer });
  const endpoints = createListener(dependencies, { respond: answer, render: renderFault });
  return {
    find({ url: target = '' }) {
      const route = matchOAuth(target);
      return route && (route.isEndpoint ? endpoints : pages);
    },
    close: () => proxy.close(),
  };
}

async function respond(proxy: OAuthProxy, received: ReceivedRequest, response: ServerResponse): Promise<Handled> {
  const { request, requestId } = received.context;
  const { route, methods, isEndpoint } = matchOAuth(request.url ?? '') as OAuthRoute;
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
    const { status, headers, content, contentLength } = await proxy.forward(received);
    response.writeHead(status, { ...headers, ...common, ...(contentLength !== undefined && { 'content-length': contentLength }) });
    response.end(method === 'HEAD' ? undefined : content);
    return { route };
  } catch (error) {
    return {
      route,
      failure: await sendError(received.context, response, { error, headers: common, ...(isEndpoint && { render: renderFault }) }),
    };
  }
}

const DEVICE_GRANT = 'urn:ietf:params:oauth:grant-type:device_code';

/** Writes an error as clients of OAuth read it, whatever they accept (RFC 6749 §5.2). */
const renderFault: RenderFault = async (fault, { request }) => {
  const body = toOAuthErrorBody(fault, fault.code === 'RATE_LIMIT_EXCEEDED' && (await isDevicePoll(request)));
  return { type: JSON_TYPE, content: JSON.stringify(body) };
};

/** Reads the form of a request for a token. Returns whether it is that of a device that waits; false when its body does not arrive. */
async function isDevicePoll(request: IncomingMessage): Promise<boolean> {
  if (request.method !== 'POST' || matchOAuth(request.url ?? '')?.route !== '/oauth/token') return false;
  try {
    return new URLSearchParams((await readBody(request)).toString()).get('grant_type') === DEVICE_GRANT;
  } catch {
    return false;
  }
}
