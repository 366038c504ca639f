/**
 * Serves the requests that gateways send: POSTs of JSON of a known length. They do not pass through Express, which would take as much time as Apollo
 * Server (`npm run bench:subgraph`). All other requests do.
 */
import type { IncomingMessage, RequestListener } from 'node:http';
import { type ApolloServer, HeaderMap } from '@apollo/server';
import type { Log } from '@trestle/log';
import { limitNesting } from '../graphql/nesting-limit.ts';
import type { LargeResult, RequestContext } from '../request/context.ts';
import type { InFlight } from './in-flight.ts';
import { type Exchange, parseBody, refuse } from './refused-requests.ts';
import type { RequestTelemetry } from './request-telemetry.ts';

/** What the endpoint is created from. */
export interface GraphqlEndpointOptions {
  readonly server: ApolloServer<RequestContext>;
  readonly inFlight: InFlight;
  readonly telemetry: RequestTelemetry;
  readonly toContext: (exchange: Exchange) => RequestContext;
  /** The most bytes of a body; larger ones are left to `others`. */
  readonly maxBytes: number;
  readonly log: Log;
  /** Handles all other requests. */
  readonly others: RequestListener;
}

const JSON_TYPE = /^application\/json(?:; ?charset=utf-8)?$/i;

/** Creates the listener of all requests. */
export function createGraphqlEndpoint({ others, maxBytes, ...options }: GraphqlEndpointOptions): RequestListener {
  const { inFlight, telemetry, log } = options;
  return (request, response) => {
    if (!isPost(request, maxBytes)) {
      others(request, response);
      return;
    }
    const exchange = { request, response: Object.assign(response, { locals: {} }) };
    inFlight.count(request, response, () => {
      telemetry.observe(request, exchange.response, () => {
        respond(options, exchange).catch((error: unknown) => {
          if (response.headersSent) response.destroy();
          else refuse(exchange, error, log);
        });
      });
    });
  };
}

function isPost({ method, url, headers }: IncomingMessage, maxBytes: number): boolean {
  if (method !== 'POST' || url !== '/graphql' || headers['content-encoding'] !== undefined) return false;
  const { 'content-type': type, 'content-length': length } = headers;
  return type !== undefined && JSON_TYPE.test(type) && length !== undefined && Number(length) <= maxBytes;
}

async function respond(
  { server, toContext }: Pick<GraphqlEndpointOptions, 'server' | 'toContext'>,
  { request, response }: Exchange,
): Promise<void> {
  const body = parseBody(await readBytes(request));
  limitNesting(body);
  const headers = new HeaderMap();
  for (const name in request.headers) headers.set(name, String(request.headers[name]));
  const largeResult: LargeResult = {};
  const result = await server.executeHTTPGraphQLRequest({
    httpGraphQLRequest: { method: 'POST', headers, search: '', body },
    context: () => Promise.resolve(Object.assign(toContext({ request, response }), { largeResult })),
  });
  if (result.body.kind !== 'complete') throw new Error('A subgraph has no deferred fields');
  const content = largeResult.rendered?.bytes ?? result.body.string;
  const fields = Object.fromEntries(result.headers);
  response
    .writeHead(result.status ?? 200, { ...fields, 'content-length': Buffer.byteLength(content) })
    .end(content, largeResult.rendered?.release);
}

/** Rejects when the connection ends before the body is complete; nobody reads the response then. */
function readBytes(request: IncomingMessage): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.once('end', () => {
      resolve(chunks.length === 1 ? (chunks[0] as Buffer) : Buffer.concat(chunks));
    });
    request.once('error', reject);
    request.once('close', () => {
      if (!request.complete) reject(incomplete());
    });
  });
}

function incomplete(): Error {
  return Object.assign(new Error('The body is incomplete'), { status: 400 });
}
