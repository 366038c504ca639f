/** The client of undici: the setting `UPSTREAM_CLIENT=undici`. By HTTP/2, where a server offers it, a connection carries one request at a time. */
import type { Readable } from 'node:stream';
import type { Dispatcher, Pool as UndiciPool } from 'undici';
import type { Abortable } from '@trestle/service/process/cancellation';
import {
  ClientError,
  type ClientErrorCode,
  type ClientResponse,
  type Progress,
  type ResponseHandler,
  type UpstreamClient,
} from './upstream-client.ts';
import { type ConnectorOptions, createConnector } from './undici-connector.ts';
import { Pool, errors } from './undici.ts';

/** The limits of the client. */
export interface UndiciOptions extends ConnectorOptions {
  readonly maxConnections: number;
  /** For a whole request; for one whose body is streamed, until the head of the response, and between two parts of either body. */
  readonly timeoutMs: number;
  readonly maxResponseBytes: number;
  /** How long an idle connection of HTTP/1.1 is kept, unless the server's `Keep-Alive` is shorter. Default: as long as that says; without it 4 s. */
  readonly idleMs?: number | undefined;
}

/** Creates the client. It opens connections when requests need them. */
export function createUndiciClient(origin: string, options: UndiciOptions): UpstreamClient<string | Readable> {
  let opened = 0;
  const connect = createConnector(options);
  const open = (own: UndiciPool.Options) => {
    const { maxConnections: connections, maxResponseBytes: maxResponseSize, allowsHttp2: allowH2 = true } = options;
    return new Pool(origin, { connections, connect, maxResponseSize, allowH2, ...own }).on('connect', () => opened++);
  };
  const { timeoutMs, idleMs } = options;
  const limits = { headersTimeout: timeoutMs, bodyTimeout: timeoutMs };
  const pools = [open({ ...limits, ...(idleMs !== undefined && { keepAliveTimeout: idleMs, keepAliveMaxTimeout: idleMs }) })];
  const sumOf = (name: 'connected' | 'queued') => pools.reduce((sum, { stats }) => sum + stats[name], 0);
  return {
    readCounts: () => ({ open: sumOf('connected'), waiting: sumOf('queued'), opened }),
    send({ path, headers, body, startedAt }, handler) {
      const dispatch = new Dispatch(handler);
      const isStreamed = typeof body !== 'string';
      const remainingMs = startedAt === undefined ? timeoutMs : startedAt + timeoutMs - performance.now();
      if (remainingMs <= 0) dispatch.expire('No time is left.');
      else {
        if (!isStreamed) dispatch.limitTime(remainingMs);
        const time = isStreamed ? limits : NO_LIMITS;
        pools[0]?.dispatch({ method: 'POST', path, headers: headers as string[], body, ...time }, dispatch);
      }
      return dispatch;
    },
    async retire() {
      const [last] = pools as [UndiciPool];
      pools.unshift(open({ ...limits, keepAliveTimeout: 1, keepAliveMaxTimeout: 1 }));
      await last.close();
    },
    close: async () => {
      await Promise.all(pools.map((pool) => pool.destroy()));
    },
  };
}

/** Of undici, whose limits are for the pauses of a request. */
const NO_LIMITS = { headersTimeout: 0, bodyTimeout: 0 };

type Headers = Readonly<Record<string, string | string[] | undefined>>;

/** A handler of undici's `dispatch` for one request. */
class Dispatch implements Dispatcher.DispatchHandler, Abortable {
  readonly #handler: ResponseHandler;
  #controller: Dispatcher.DispatchController | undefined;
  #timer: NodeJS.Timeout | undefined;
  #reason: Error | undefined;
  #hasEnded = false;
  #status = 0;
  #headers: Headers | undefined;
  #first: Buffer | undefined;
  #others: Buffer[] | undefined;

  constructor(handler: ResponseHandler) {
    this.#handler = handler;
  }

  abort(reason: Error): void {
    this.#reason = reason;
    if (!this.#hasEnded) this.#controller?.abort(reason);
  }

  /** Lets the request fail with TIMEOUT unless it ends within this time. It may still wait for a connection then. */
  limitTime(ms: number): void {
    this.#timer = setTimeout(() => {
      this.expire('The response was not complete in time.');
    }, ms);
  }

  /** Fails with TIMEOUT. */
  expire(message: string): void {
    if (this.#hasEnded) return;
    const progress: Progress = this.#headers ? 'responding' : this.#controller ? 'sent' : 'unsent';
    const error = new ClientError('TIMEOUT', message, { progress });
    this.#end();
    this.#reason = error;
    this.#controller?.abort(error);
    this.#handler.onFailure(error);
  }

  #end(): void {
    this.#hasEnded = true;
    clearTimeout(this.#timer);
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.#controller = controller;
    if (this.#reason) controller.abort(this.#reason);
  }

  onResponseStart(_: Dispatcher.DispatchController, status: number, headers: Headers): void {
    this.#status = status;
    this.#headers = headers;
  }

  onResponseData(_: Dispatcher.DispatchController, chunk: Buffer): void {
    if (this.#first === undefined) this.#first = chunk;
    else (this.#others ??= []).push(chunk);
  }

  onResponseEnd(): void {
    if (this.#hasEnded) return;
    this.#end();
    const bytes = this.#others ? Buffer.concat([this.#first as Buffer, ...this.#others]) : (this.#first ?? Buffer.alloc(0));
    this.#handler.onResponse(new UndiciResponse(this.#status, this.#headers ?? {}, bytes));
  }

  onResponseError(_: Dispatcher.DispatchController, error: Error): void {
    if (this.#hasEnded) return;
    this.#end();
    const code = this.#reason ? 'ABORTED' : toCode(error);
    const progress: Progress = code === 'UNREACHABLE' ? 'unsent' : this.#headers ? 'responding' : 'sent';
    this.#handler.onFailure(new ClientError(code, error.message, { progress, cause: error }));
  }
}

class UndiciResponse implements ClientResponse {
  readonly status: number;
  readonly bytes: Buffer;
  readonly bodyStart = 0;
  readonly bodyEnd: number;
  readonly #headers: Headers;

  constructor(status: number, headers: Headers, bytes: Buffer) {
    this.status = status;
    this.bytes = bytes;
    this.bodyEnd = bytes.length;
    this.#headers = headers;
  }

  header(name: string): string | undefined {
    const value = this.#headers[name];
    return Array.isArray(value) ? value.join(', ') : value;
  }

  headerValues(name: string): readonly string[] {
    const value = this.#headers[name];
    return value === undefined ? [] : Array.isArray(value) ? value : [value];
  }
}

function toCode(error: Error): ClientErrorCode {
  if (error instanceof errors.HeadersTimeoutError || error instanceof errors.BodyTimeoutError) return 'TIMEOUT';
  if (error instanceof errors.ConnectTimeoutError) return 'UNREACHABLE';
  if (error instanceof errors.ResponseExceededMaxSizeError || error instanceof errors.HeadersOverflowError) return 'RESPONSE_TOO_LARGE';
  if (error instanceof errors.HTTPParserError) return 'INVALID_RESPONSE';
  if (error instanceof errors.InvalidArgumentError || error instanceof errors.NotSupportedError) return 'INVALID_REQUEST';
  const { code, syscall } = error as NodeJS.ErrnoException;
  return code === 'ECONNREFUSED' || syscall === 'connect' || syscall === 'getaddrinfo' ? 'UNREACHABLE' : 'CONNECTION_LOST';
}
