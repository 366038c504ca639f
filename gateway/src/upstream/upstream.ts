/** Calls a subgraph: kept-alive connections, limits of time and size, the caller's own credential and request id, and nothing told of addresses. */
import { GraphQLError } from 'graphql';
import { Histogram, type Registry } from 'prom-client';
import { Pool, errors } from 'undici';
import type { EngineContext } from '../engine.ts';

const CONNECTIONS = 64;
const CONNECT_TIMEOUT_MS = 2000;
const MAX_ANSWER_BYTES = 32 * 1024 * 1024;

export interface UpstreamRequest {
  readonly query?: string | undefined;
  readonly operationName?: string | undefined;
  readonly variables?: Record<string, unknown> | undefined;
}

export interface UpstreamAnswer {
  readonly data?: Record<string, unknown> | null;
  readonly errors?: readonly { readonly message: string }[];
}

export type UpstreamContext = Omit<EngineContext, 'caller'>;

export interface Upstream {
  /** Leaves in the trail how long it took and whether the answer is a replay. Throws UPSTREAM_TIMEOUT or UPSTREAM_ERROR with the subgraph's name. */
  fetch(request: UpstreamRequest, context: UpstreamContext): Promise<UpstreamAnswer>;
}

export interface Upstreams {
  /** The subgraph of this name at this URL, unless the settings say that it is elsewhere. */
  open(name: string, url: string): Upstream;
  close(): Promise<void>;
}

export interface UpstreamOptions {
  /** Where subgraphs really are, by name in lower case. */
  readonly urls: ReadonlyMap<string, string>;
  readonly timeoutMs: number;
  readonly metrics: Registry;
}

export function createUpstreams({ urls, timeoutMs, metrics }: UpstreamOptions): Upstreams {
  const pools = new Map<string, Pool>();
  const durations = new Histogram({
    name: 'trestle_subgraph_fetch_duration_seconds',
    help: 'Time from sending a fetch to a subgraph to its whole answer.',
    labelNames: ['subgraph', 'outcome'],
    registers: [metrics],
  });
  const poolOf = (origin: string): Pool => {
    const pool =
      pools.get(origin) ??
      new Pool(origin, {
        connections: CONNECTIONS,
        connect: { timeout: CONNECT_TIMEOUT_MS },
        headersTimeout: timeoutMs,
        bodyTimeout: timeoutMs,
        maxResponseSize: MAX_ANSWER_BYTES,
      });
    pools.set(origin, pool);
    return pool;
  };
  return {
    open(name, url) {
      const { origin, pathname, search } = new URL(urls.get(name.toLowerCase()) ?? url);
      const pool = poolOf(origin);
      const path = pathname + search;
      return {
        async fetch(request, context) {
          const { trail } = context;
          const end = durations.startTimer({ subgraph: name });
          const finish = (outcome: string) => {
            trail.durationsMs.set(name, (trail.durationsMs.get(name) ?? 0) + end({ outcome }) * 1000);
          };
          try {
            const sent = { method: 'POST', path, headers: toHeaders(request, context), body: JSON.stringify(request) } as const;
            const { body, headers } = await pool.request(sent);
            const answer = readAnswer(await body.json());
            if (headers['idempotent-replayed'] === 'true') trail.isReplayed = true;
            finish(answer.errors ? 'errors' : 'data');
            return answer;
          } catch (cause) {
            const fault = toFault(name, cause);
            finish(String(fault.extensions['code']));
            throw fault;
          }
        },
      };
    },
    close: async () => {
      await Promise.all(Array.from(pools.values(), (pool) => pool.destroy()));
    },
  };
}

/** All that a subgraph is told of a client's request. */
function toHeaders({ query }: UpstreamRequest, { authorization, requestId, mutationHeaders }: UpstreamContext): Record<string, string> {
  return {
    'content-type': 'application/json',
    'x-request-id': requestId,
    ...(authorization && { authorization }),
    ...(query?.startsWith('mutation') && mutationHeaders),
  };
}

function readAnswer(answer: unknown): UpstreamAnswer {
  if (typeof answer === 'object' && answer !== null && ('data' in answer || 'errors' in answer)) return answer as UpstreamAnswer;
  throw new Error('The answer is not a GraphQL response');
}

/** The cause, which names addresses, is for the log. */
function toFault(service: string, originalError: unknown): GraphQLError {
  const isSlow = originalError instanceof errors.HeadersTimeoutError || originalError instanceof errors.BodyTimeoutError;
  const [code, message] = isSlow
    ? ['UPSTREAM_TIMEOUT', `The subgraph ${service} took too long`]
    : ['UPSTREAM_ERROR', `The subgraph ${service} did not answer`];
  return new GraphQLError(message, { originalError: originalError as Error, extensions: { code, service } });
}
