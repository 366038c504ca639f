/** Calls a subgraph: kept-alive connections, limits of time and size, one retry where it is safe, the caller's own headers, nothing told of addresses. */
import { Pool, errors } from 'undici';
import type { Registry } from 'prom-client';
import type { EngineContext } from '../engines/engine.ts';
import type { SubgraphAnswer, SubgraphFailure } from '../execute/execute.ts';
import { type Series, createHistogram } from '../observability/histogram.ts';
import { type CircuitBreaker, createCircuitBreaker } from './circuit-breaker.ts';
import { type LiveUpstream, createLiveSockets } from './subgraph-sockets.ts';
import { createRetryBudget } from './retry-budget.ts';

const CONNECTIONS = 64;
const CONNECT_TIMEOUT_MS = 2000;
/** Before a fetch is sent again that a subgraph refused, as one does that is being replaced. */
const REFUSED_PAUSE_MS = 100;
const MAX_ANSWER_BYTES = 32 * 1024 * 1024;

export interface UpstreamRequest {
  /** The whole body as JSON text. */
  readonly body: string;
  readonly isMutation: boolean;
  readonly context: UpstreamContext;
}

export type UpstreamContext = Omit<EngineContext, 'caller' | 'client' | 'identity'>;
export type UpstreamDone = (failure: SubgraphFailure | null, answer: SubgraphAnswer) => void;

export interface Upstream {
  /** Calls back once. Leaves in the trail how long it took and whether the answer is a replay. */
  send(request: UpstreamRequest, done: UpstreamDone): void;
  /** Where its requests go. */
  readonly url: URL;
  /** Its subscriptions. */
  readonly live: LiveUpstream;
}

export interface Upstreams {
  /** The subgraph of this name at this URL, unless the settings say that it is elsewhere. */
  open(name: string, url: string): Upstream;
  close(): Promise<void>;
}

export interface UpstreamOptions {
  /** Where subgraphs really are, by name in lower case. */
  readonly urls: ReadonlyMap<string, string>;
  /** Where their subscriptions are, if that is elsewhere than their queries. */
  readonly liveUrls: ReadonlyMap<string, string>;
  readonly timeoutMs: number;
  /** How often a WebSocket is asked for a sign of life. */
  readonly pingIntervalMs: number;
  readonly metrics: Registry;
}

const NOTHING: SubgraphAnswer = {};

export function createUpstreams({ urls, liveUrls, timeoutMs, pingIntervalMs, metrics }: UpstreamOptions): Upstreams {
  const pools = new Map<string, Pool>();
  const sockets = createLiveSockets({ pingIntervalMs });
  const durations = createHistogram({
    registry: metrics,
    name: 'trestle_subgraph_fetch_duration_seconds',
    help: 'Time from sending a fetch to a subgraph to its whole answer.',
    labelNames: ['subgraph', 'outcome'],
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
      const address = urls.get(name.toLowerCase()) ?? url;
      const target = new URL(address);
      const { origin, pathname, search } = target;
      const line: Line = {
        name,
        pool: poolOf(origin),
        path: pathname + search,
        breaker: createCircuitBreaker(),
        retries: createRetryBudget(),
      };
      const series = new Map<string, Series>();
      const observe = (outcome: string, seconds: number) => {
        let one = series.get(outcome);
        if (!one) series.set(outcome, (one = durations({ subgraph: name, outcome })));
        one.observe(seconds);
      };
      return {
        url: target,
        live: sockets.open(liveUrls.get(name.toLowerCase()) ?? address),
        send(request, done) {
          const { trail } = request.context;
          const started = performance.now();
          post(line, { request, isRetry: false }, (failure, answer) => {
            const milliseconds = performance.now() - started;
            trail.durationsMs.push([name, milliseconds]);
            observe(failure ? failure.code : answer.errors ? 'errors' : 'data', milliseconds / 1000);
            done(failure, answer);
          });
        },
      };
    },
    close: async () => {
      sockets.close();
      await Promise.all(Array.from(pools.values(), (pool) => pool.destroy()));
    },
  };
}

interface Line {
  readonly name: string;
  readonly pool: Pool;
  readonly path: string;
  readonly breaker: CircuitBreaker;
  readonly retries: { take(): boolean; earn(): void };
}

function post(line: Line, { request, isRetry }: { request: UpstreamRequest; isRetry: boolean }, done: UpstreamDone): void {
  const { trail, headers, mutationHeaders } = request.context;
  if (trail.isAborted && !request.isMutation) {
    done(toFailure(line.name, new Error('The client has gone')), NOTHING);
    return;
  }
  if (!line.breaker.allow()) {
    done(toFailure(line.name, new Error('The circuit is open')), NOTHING);
    return;
  }
  line.retries.earn();
  let first: Buffer | undefined;
  let others: Buffer[] | undefined;
  let status = 200;
  let contentType: string | undefined;
  line.pool.dispatch(
    {
      method: 'POST',
      path: line.path,
      headers: (request.isMutation && mutationHeaders.length > 0 ? [...headers, ...mutationHeaders] : headers) as string[],
      body: request.body,
    },
    {
      onRequestStart(controller) {
        if (!request.isMutation) trail.flights.push(controller);
      },
      onResponseStart(_, code, sent) {
        status = code;
        contentType = typeof sent['content-type'] === 'string' ? sent['content-type'] : undefined;
        if (sent['idempotent-replayed'] === 'true') trail.isReplayed = true;
      },
      onResponseData(_, chunk) {
        if (first === undefined) first = chunk;
        else (others ??= []).push(chunk);
      },
      onResponseEnd() {
        line.breaker.succeed();
        const answer = isJson(contentType) ? readAnswer(first, others) : undefined;
        if (answer && isUsable(answer, status)) done(null, answer);
        else
          done(
            toFailure(line.name, new Error(`HTTP ${String(status)}, ${contentType ?? 'no content type'}: not a GraphQL response`)),
            NOTHING,
          );
      },
      onResponseError(_, error) {
        if (trail.isAborted && !request.isMutation) {
          done(toFailure(line.name, error), NOTHING);
          return;
        }
        line.breaker.fail();
        const isSafe = !isRetry && first === undefined && (isRefused(error) || (!request.isMutation && isConnectionError(error)));
        if (isSafe && line.retries.take())
          setTimeout(post, isRefused(error) ? REFUSED_PAUSE_MS : 0, line, { request, isRetry: true }, done);
        else done(toFailure(line.name, error), NOTHING);
      },
    },
  );
}

function readAnswer(first: Buffer | undefined, others: Buffer[] | undefined): SubgraphAnswer | undefined {
  if (!first) return undefined;
  try {
    const bytes = others ? Buffer.concat([first, ...others]) : first;
    const answer = JSON.parse(bytes.toString('utf8', 0, bytes.length)) as unknown;
    return isAnswer(answer) ? answer : undefined;
  } catch {
    return undefined;
  }
}

/** GraphQL §7.1: without data there are errors. */
function isAnswer(answer: unknown): answer is SubgraphAnswer {
  if (typeof answer !== 'object' || answer === null) return false;
  const { data, errors: told } = answer as Record<string, unknown>;
  if (told !== undefined && told !== null && !Array.isArray(told)) return false;
  const isFailed = Array.isArray(told) && told.length > 0;
  return typeof data === 'object' && data !== null ? !Array.isArray(data) : (data === undefined || data === null) && isFailed;
}

/** GraphQL over HTTP §6.4: what comes with a status other than 2xx has no data; why there are none is told by its errors. */
function isUsable({ data }: SubgraphAnswer, status: number): boolean {
  return (status >= 200 && status < 300) || data === undefined || data === null;
}

/** RFC 9110 §8.3: what is sent without a type may be looked at; of any other type than JSON it is nothing of ours. */
function isJson(contentType: string | undefined): boolean {
  return contentType === undefined || /^application\/(?:[\w.-]+\+)?json\s*(?:;|$)/i.test(contentType);
}

const CONNECTION_CODES = new Set(['ECONNREFUSED', 'ECONNRESET', 'EPIPE', 'UND_ERR_SOCKET', 'UND_ERR_CONNECT_TIMEOUT']);

/** The request was surely not processed: a mutation, too, may be sent again (RFC 9110 §9.2.2). */
function isRefused(error: Error): boolean {
  return (error as NodeJS.ErrnoException).code === 'ECONNREFUSED';
}

/** Nothing of an answer has come: the same fetch may go out once more. */
function isConnectionError(error: Error): boolean {
  return CONNECTION_CODES.has((error as NodeJS.ErrnoException).code ?? '');
}

/** The cause, which names addresses, is for the log. */
function toFailure(service: string, cause: Error): SubgraphFailure {
  const isSlow = cause instanceof errors.HeadersTimeoutError || cause instanceof errors.BodyTimeoutError;
  return isSlow
    ? { code: 'UPSTREAM_TIMEOUT', message: `The subgraph ${service} took too long`, cause }
    : { code: 'UPSTREAM_ERROR', message: `The subgraph ${service} did not answer`, cause };
}
