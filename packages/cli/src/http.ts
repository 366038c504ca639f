/** Sends GraphQL requests: bounded in time and bytes, without redirects, which would take the token elsewhere. */
import { request as sendHttp } from 'node:http';
import { request as sendHttps } from 'node:https';
import type { LookupFunction } from 'node:net';
import { CommandError, EXIT } from './exit-codes.ts';

/** Configures one request. */
export interface GraphQLRequest {
  readonly url: URL;
  readonly query: string;
  readonly variables?: Readonly<Record<string, unknown>>;
  readonly headers?: Readonly<Record<string, string>>;
  readonly timeoutMs: number;
  /** Ends the request early. */
  readonly signal?: AbortSignal;
  /** The address to connect to in place of those of the URL's host. */
  readonly address?: { readonly address: string; readonly family: number };
}

/** A response of a GraphQL server. */
export interface GraphQLResult {
  readonly data?: unknown;
  readonly errors?: readonly GraphQLResultError[];
}

/** An error of a GraphQL response. */
export interface GraphQLResultError {
  readonly message: string;
  readonly extensions?: Readonly<Record<string, unknown>>;
}

const MAX_BYTES = 64 * 1024 * 1024;

/** Returns the result of a request. Throws a CommandError with exit code 4 when there is no GraphQL response. */
export async function sendGraphQL({ url, query, variables, headers, timeoutMs, signal, address }: GraphQLRequest): Promise<GraphQLResult> {
  const body = JSON.stringify({ query, variables });
  const lookup: LookupFunction | undefined =
    address &&
    ((_host, options, callback) => {
      if (options.all === true) callback(null, [address]);
      else callback(null, address.address, address.family);
    });
  const limit = startLimit(timeoutMs, signal);
  const options = {
    method: 'POST',
    headers: { 'content-type': 'application/json', accept: 'application/graphql-response+json, application/json', ...headers },
    signal: limit.signal,
    // A connection of its own, so that a load balancer may choose another replica each time.
    agent: false as const,
    ...(lookup && { lookup }),
  };
  try {
    const { status, text } = await exchange(url, options, body);
    return parseResult(text, status, url);
  } catch (error) {
    if (error instanceof CommandError) throw error;
    const reason = limit.isOver() ? `no response within ${String(timeoutMs / 1000)} s` : describe(error);
    throw new CommandError(`${url.origin} cannot be reached: ${reason}.`, EXIT.server, 'UNREACHABLE');
  } finally {
    limit.end();
  }
}

/**
 * Starts the time of a request. The signal aborts when the time is over, or `parent` aborts. `AbortSignal.any` would keep memory for each request
 * while `parent` lives, which is as long as `trestle dev` runs (Node.js 20).
 */
function startLimit(timeoutMs: number, parent: AbortSignal | undefined) {
  const controller = new AbortController();
  let isOver = false;
  const abort = () => {
    controller.abort();
  };
  const timer = setTimeout(() => {
    isOver = true;
    abort();
  }, timeoutMs);
  if (parent?.aborted === true) abort();
  parent?.addEventListener('abort', abort);
  return {
    signal: controller.signal,
    isOver: () => isOver,
    end() {
      clearTimeout(timer);
      parent?.removeEventListener('abort', abort);
    },
  };
}

function exchange(url: URL, options: object, body: string): Promise<{ status: number; text: string }> {
  const send = url.protocol === 'https:' ? sendHttps : sendHttp;
  return new Promise((resolve, reject) => {
    const request = send(url, options, (response) => {
      const chunks: Buffer[] = [];
      let size = 0;
      response.on('data', (chunk: Buffer) => {
        size += chunk.length;
        if (size > MAX_BYTES) request.destroy(new Error(`the response is larger than ${String(MAX_BYTES)} bytes`));
        else chunks.push(chunk);
      });
      response.on('end', () => {
        resolve({ status: response.statusCode ?? 0, text: Buffer.concat(chunks).toString('utf8') });
      });
      response.on('error', reject);
    });
    request.on('error', reject);
    request.end(body);
  });
}

function parseResult(text: string, status: number, url: URL): GraphQLResult {
  const invalid = `${url.origin} did not answer as a GraphQL server does (status ${String(status)}).`;
  let result: unknown;
  try {
    result = JSON.parse(text);
  } catch {
    throw new CommandError(invalid, EXIT.server, 'NO_GRAPHQL_RESPONSE');
  }
  const isResult = typeof result === 'object' && result !== null && ('data' in result || 'errors' in result);
  if (!isResult) throw new CommandError(invalid, EXIT.server, 'NO_GRAPHQL_RESPONSE');
  return result as GraphQLResult;
}

function describe(error: unknown): string {
  if (error instanceof AggregateError) return error.errors.map(describe).join(', ');
  return error instanceof Error ? error.message : String(error);
}
