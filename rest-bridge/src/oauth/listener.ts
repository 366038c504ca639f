/** Answers the requests for the authorization server: the bridge passes them on, and logs and counts them as its own. */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { ERRORS } from '@trestle/schema/errors';
import { Cancellation } from '@trestle/service/cancellation';
import { toRequestId } from '@trestle/service/request-id';
import { endServerSpan } from '@trestle/telemetry/http';
import type { LoadSlot } from '../http/overload.ts';
import type { PipelineDependencies } from '../pipeline/pipeline.ts';
import { renderError } from '../pipeline/render-error.ts';
import { sendResponse } from '../http/send-response.ts';
import { toOAuthRoute } from './paths.ts';
import { type OAuthProxy, createOAuthProxy } from './proxy.ts';

/** What the listener works with. */
export interface OAuthListenerOptions extends Pick<PipelineDependencies, 'load' | 'maintenance' | 'tracing' | 'log' | 'observe'> {
  /** The origin of the users subgraph; undefined for a system without an authorization server. */
  readonly url: string | undefined;
  readonly timeoutMs: number;
}

/** Answers requests. */
export interface OAuthListener {
  /** Returns undefined, and does nothing, when the request is not one for the authorization server. Rejects when no response could be sent. */
  handle(request: IncomingMessage, response: ServerResponse): Promise<void> | undefined;
  close(): Promise<void>;
}

/** Creates the listener. */
export function createOAuthListener({ url, timeoutMs, ...dependencies }: OAuthListenerOptions): OAuthListener {
  if (url === undefined) return { handle: () => undefined, close: () => Promise.resolve() };
  const proxy = createOAuthProxy({ url, timeoutMs });
  return {
    handle(request, response) {
      const route = toOAuthRoute(request.url ?? '');
      return route === undefined ? undefined : respond({ ...dependencies, proxy, route }, request, response);
    },
    close: () => proxy.close(),
  };
}

interface Parts extends Omit<OAuthListenerOptions, 'url' | 'timeoutMs'> {
  readonly proxy: OAuthProxy;
  readonly route: string;
}

async function respond(parts: Parts, request: IncomingMessage, response: ServerResponse): Promise<void> {
  const { proxy, route, load, maintenance, tracing, log, observe } = parts;
  const started = performance.now();
  const requestId = toRequestId(request.headers['x-request-id']);
  const trace = tracing.begin(request.headers);
  const cancellation = new Cancellation();
  response.once('close', () => {
    cancellation.cancel();
  });
  const context = { request, requestId, trace, cancellation };
  const common = { 'x-request-id': requestId, 'x-content-type-options': 'nosniff' };
  let slot: LoadSlot | undefined;
  try {
    maintenance.check();
    slot = load.admit();
    slot.acquire();
    const { status, headers, content } = await proxy.forward(request, context);
    response.writeHead(status, { ...headers, ...common, 'content-length': String(content.length) });
    response.end(request.method === 'HEAD' ? undefined : content);
  } catch (error) {
    const rendered = await renderError(context, error, common);
    if (ERRORS[rendered.code].status >= 500) log.error('request failed', { requestId, route, code: rendered.code, error });
    if (response.headersSent) response.destroy();
    else sendResponse(request, response, rendered.response);
  } finally {
    slot?.release();
  }
  const { method = '' } = request;
  const { statusCode: status } = response;
  const milliseconds = performance.now() - started;
  if (trace) endServerSpan(trace, { method, route, status });
  observe({ route, method, status, seconds: milliseconds / 1000 });
  log.access({ requestId, method, route, status, durationMs: Math.round(milliseconds) });
}
