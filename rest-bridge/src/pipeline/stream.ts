/** Answers a request for server-sent events: a subscription at the gateway, each of whose results becomes one event (HTML, "Server-sent events"). */
import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import { Fault } from '@trestle/schema/errors';
import type { GatewayClient } from '../gateway/gateway-client.ts';
import type { StreamedResult } from '../gateway/subscription-client.ts';
import { EVENT_STREAM_TYPE } from '../http/media-types.ts';
import type { EventStreams } from '../http/event-streams.ts';
import type { ResponseHeaders } from '../http/response.ts';
import type { LoadSlot } from '../http/overload.ts';
import { toParameterName, toResultFault } from './call.ts';
import type { CompiledOperationRoute, CompiledStream } from './compile.ts';
import type { AdmittedRequest } from './context.ts';
import { toGatewayRequest } from './gateway-request.ts';
import { parse } from './parse.ts';

/** A route that can be streamed. */
export type StreamRoute = CompiledOperationRoute & { readonly stream: CompiledStream };

/** Returns whether a request is for a route that can be streamed. */
export function isStreamable(admitted: AdmittedRequest): admitted is AdmittedRequest<StreamRoute> {
  return 'stream' in admitted.compiled;
}

/** What a stream is sent with. */
export interface StreamDependencies {
  readonly gateway: GatewayClient;
  readonly streams: EventStreams;
}

/** Where a stream is sent to. */
export interface StreamTarget {
  readonly slot: LoadSlot;
  readonly response: ServerResponse;
  /** Headers of every response. */
  readonly headers: ResponseHeaders;
}

/** Keeps proxies from closing a quiet connection, and notices clients that are gone. */
const HEARTBEAT_MS = 15_000;
/** How soon a browser connects again after the stream has ended. */
const RETRY_MS = 1000;

/**
 * Sends events until the client or the process ends the stream, or the gateway does. Rejects before the first byte with what is wrong; a failure
 * afterwards is sent as an event of the name `fault`, and the client resumes with `Last-Event-ID`. HEAD gets the head of this response, and
 * no stream stays open (RFC 9110 §9.3.2).
 */
export async function streamEvents(
  { gateway, streams }: StreamDependencies,
  admitted: AdmittedRequest<StreamRoute>,
  { slot, response, headers }: StreamTarget,
): Promise<void> {
  const { context, compiled, caller, target } = admitted;
  const { variables, selection } = await parse(admitted);
  slot.acquire();
  const stream = streams.open(caller?.userId ?? '');
  context.cancellation.add({ abort: stream.close });
  try {
    const operation = compiled.stream.operation(selection);
    const { after, ...rest } = variables as { readonly after?: string | null };
    const { headers: sent } = toGatewayRequest(admitted, {
      operation: compiled.stream.operation,
      selection,
      isMutation: false,
      variables: rest,
    });
    const last = context.request.headers['last-event-id'];
    const isResumed = typeof last === 'string' && last !== '';
    const failureOf = createFailureReader(isResumed ? 'Last-Event-ID' : target.search.has('cursor') ? 'cursor' : 'after');
    const results = gateway.subscribe({
      bodyStart: operation.bodyStart,
      variables: rest,
      headers: sent,
      after: isResumed ? last : (after ?? undefined),
      signal: stream.signal,
    });
    const first = await results.next();
    const failure = first.done === true ? undefined : failureOf(first.value);
    if (failure) throw failure;
    // It works on nothing while it waits for events.
    slot.release();
    const toBlock = (result: StreamedResult) => {
      const value = operation.resultPath.reduce<unknown>(
        (data, key) => (data as Record<string, unknown> | null | undefined)?.[key],
        result.data,
      );
      return toEventBlock(
        result.extensions?.position,
        value == null ? undefined : operation.projection.represent(value, target.prefix).body,
      );
    };
    response.writeHead(200, { ...headers, 'content-type': EVENT_STREAM_TYPE, 'cache-control': 'no-store', 'x-accel-buffering': 'no' });
    if (context.request.method === 'HEAD') {
      response.end();
      return;
    }
    await write(response, `retry: ${String(RETRY_MS)}\n${first.done === true ? '\n' : toBlock(first.value)}`);
    await writeAll(response, results, { toBlock, failureOf, requestId: context.requestId });
  } finally {
    stream.close();
  }
}

/** How results become events. */
interface EventWriter {
  readonly toBlock: (result: StreamedResult) => string;
  readonly failureOf: FailureReader;
  readonly requestId: string;
}

async function writeAll(
  response: ServerResponse,
  results: AsyncIterable<StreamedResult>,
  { toBlock, failureOf, requestId }: EventWriter,
): Promise<void> {
  const heartbeat = setInterval(() => {
    if (!response.writableNeedDrain) response.write(':\n\n');
  }, HEARTBEAT_MS);
  try {
    for await (const result of results) {
      const failure = failureOf(result);
      if (failure) throw failure;
      await write(response, toBlock(result));
      if (response.destroyed) break;
    }
  } catch (error) {
    response.write(toFaultBlock(error, requestId));
  } finally {
    clearInterval(heartbeat);
    response.end();
  }
}

/** Resolves when the client has read enough for more. A client that reads nothing is cut off by the server's write timeout. */
async function write(response: ServerResponse, block: string): Promise<void> {
  if (response.destroyed || response.write(block)) return;
  // Removes the listener of what has not happened: a slow client waits many times.
  const waiting = new AbortController();
  const { signal } = waiting;
  const happens = (name: string) => once(response, name, { signal }).catch(() => undefined);
  await Promise.race([happens('drain'), happens('close')]);
  waiting.abort();
}

/** Returns the fault of a result without data. */
type FailureReader = (result: StreamedResult) => Fault | undefined;

/** `start` is the name of the parameter or header by which the client says where the stream begins. */
function createFailureReader(start: string): FailureReader {
  const toName = (field: string) => (field === 'extensions.resume.after' ? start : toParameterName(field));
  return ({ data, errors }) =>
    errors && errors.length > 0 && (data === null || data === undefined) ? toResultFault(errors, toName) : undefined;
}

/** Returns the event that ends a stream which failed after its first byte. */
export function toFaultBlock(error: unknown, requestId: string): string {
  const { code, message } = error instanceof Fault ? error : { code: 'INTERNAL_ERROR', message: 'An unexpected error occurred.' };
  return `event: fault\ndata: ${JSON.stringify({ error: { code, message, requestId } })}\n\n`;
}

/** An event without data moves the position of the client only. JSON has no line ends. */
function toEventBlock(position: string | undefined, body: object | undefined): string {
  const id = position === undefined ? '' : `id: ${position}\n`;
  return body === undefined ? `${id}\n` : `${id}data: ${JSON.stringify(body)}\n\n`;
}
