/** One subscription of a subgraph by server-sent events: reads the response (GraphQL over SSE, distinct connections mode). */
import { type EventSourceMessage, type EventSourceParser, createParser } from 'eventsource-parser';
import type { Dispatcher } from 'undici';
import { parseObject } from '../../request/json.ts';
import { toErrorList } from './subgraph-message.ts';
import { type ConnectionLoss, MAX_EVENT_BYTES, type SourceReceiver } from './subscription-upstream.ts';

/** A server that has sent comments, which keep a connection open, sends them more often than that. */
const SILENCE_MS = 60_000;
/** The largest response that is no stream: errors of a request that was refused. */
const MAX_RESULT_BYTES = 1024 * 1024;

/** Names of events with a result. Servers before the protocol leave it out. */
const RESULT_EVENTS: ReadonlySet<string> = new Set(['next', 'message']);

/**
 * `complete` without a line `data`. The parser dispatches no event without data, as HTML says, but gqlgen and Hot Chocolate send this before they end the
 * response.
 */
const COMPLETE = /(?:^|[\r\n])event: ?complete(?:\r\n|\n|\r){1,2}$/;
/** With the line end before it, and two behind it. */
const COMPLETE_BYTES = 20;

/** What a response is, by its `Content-Type`. */
type Content = 'events' | 'result';

/** Reads the response of one request. The receiver gets what the protocol of WebSockets would give it. */
export class SubgraphStream implements Dispatcher.DispatchHandler {
  readonly #receiver: SourceReceiver;
  readonly #onEnded: () => void;
  readonly #decoder = new TextDecoder();
  readonly #parser: EventSourceParser;
  #controller: Dispatcher.DispatchController | undefined;
  #content: Content | undefined;
  #result = '';
  /** The last bytes of a stream of events. */
  #last = '';
  #silence: NodeJS.Timeout | undefined;
  #isEnded = false;

  /** `onEnded` is called once, when the request is over or aborted. */
  constructor(receiver: SourceReceiver, onEnded: () => void) {
    this.#receiver = receiver;
    this.#onEnded = onEnded;
    this.#parser = createParser({
      maxBufferSize: MAX_EVENT_BYTES,
      onEvent: (event) => {
        this.#receive(event);
      },
      onComment: () => {
        this.#expectComments();
      },
      onError: ({ type, message }) => {
        if (type === 'max-buffer-size-exceeded') this.#lose(message, { isFinal: true });
      },
    });
  }

  /** Ends the subscription: the receiver is not called afterwards. */
  abort(): void {
    this.#end(() => undefined);
  }

  /** Ends a subscription that cannot be sent. */
  fail(cause: Error): void {
    this.#end(() => {
      this.#receiver.lost({ isUnauthorized: false, cause });
    });
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.#controller = controller;
    if (this.#isEnded) controller.abort(new Error('The subscription has ended'));
  }

  onResponseStart(
    _: Dispatcher.DispatchController,
    status: number,
    headers: Readonly<Record<string, string | string[] | undefined>>,
  ): void {
    if (status < 200) return;
    const isUnauthorized = status === 401 || status === 403;
    const content = isEncoded(headers['content-encoding']) ? undefined : toContent(String(headers['content-type'] ?? ''));
    if (isUnauthorized || content === undefined || (content === 'events' && status >= 300))
      this.#lose(`The subgraph responded with ${String(status)} and no stream of events`, { isUnauthorized });
    this.#content = content;
  }

  onResponseData(_: Dispatcher.DispatchController, chunk: Buffer): void {
    if (this.#isEnded) return;
    this.#silence?.refresh();
    const text = this.#decoder.decode(chunk, { stream: true });
    if (this.#content === 'events') {
      this.#noteLast(chunk);
      this.#parse(text);
    } else if (this.#result.length + text.length > MAX_RESULT_BYTES)
      this.#lose('The subgraph responded with too much, and no stream of events');
    else this.#result += text;
  }

  onResponseEnd(): void {
    if (this.#isEnded) return;
    if (this.#content === 'result') this.#readResult();
    if (COMPLETE.test(this.#last)) this.#complete();
    else this.#lose('The subgraph ended the response before the subscription was complete');
  }

  onResponseError(_: Dispatcher.DispatchController, error: Error): void {
    this.fail(error);
  }

  #noteLast(chunk: Buffer): void {
    const last = chunk.toString('latin1', Math.max(0, chunk.length - COMPLETE_BYTES));
    this.#last = last.length === COMPLETE_BYTES ? last : (this.#last + last).slice(-COMPLETE_BYTES);
  }

  /** The parser throws once more than its limit was fed. */
  #parse(text: string): void {
    try {
      this.#parser.feed(text);
    } catch (error) {
      this.#lose((error as Error).message);
    }
  }

  #receive({ event, data }: EventSourceMessage): void {
    if (this.#isEnded) return;
    if (event === 'complete') this.#complete();
    else if (event === undefined || RESULT_EVENTS.has(event)) {
      const result = parseObject(data);
      if (result) this.#receiver.next(result, data.length);
      else this.#lose('The subgraph sent an event that is no result');
    }
  }

  #complete(): void {
    this.#end(() => {
      this.#receiver.complete();
    });
  }

  /** A server that refuses the request responds without a stream. */
  #readResult(): void {
    const result = parseObject(this.#result);
    const { data, errors } = result ?? {};
    if (Array.isArray(errors) && (data === undefined || data === null))
      this.#end(() => {
        this.#receiver.refused(toErrorList(errors));
      });
  }

  /** Starts the timer that ends a silent stream. Only for a subgraph that sends comments: any other may be silent for as long as it has no events. */
  #expectComments(): void {
    if (this.#isEnded) return;
    this.#silence ??= setTimeout(() => {
      this.#lose('The subgraph has sent no comments any more');
    }, SILENCE_MS).unref();
  }

  #lose(reason: string, loss: Partial<ConnectionLoss> = {}): void {
    this.#end(() => {
      this.#receiver.lost({ isUnauthorized: false, ...loss, cause: new Error(reason) });
    });
  }

  #end(notify: () => void): void {
    if (this.#isEnded) return;
    this.#isEnded = true;
    clearTimeout(this.#silence);
    this.#controller?.abort(new Error('The subscription has ended'));
    this.#onEnded();
    notify();
  }
}

/** `none` is no registered coding, but graphql-sse and GraphQL Yoga send it to keep proxies from compressing. */
function isEncoded(coding: string | string[] | undefined): boolean {
  return coding !== undefined && coding !== 'none' && coding !== 'identity';
}

function toContent(type: string): Content | undefined {
  const [media = ''] = type.split(';');
  if (media.trim().toLowerCase() === 'text/event-stream') return 'events';
  return /^application\/(?:graphql-response\+)?json$/i.test(media.trim()) ? 'result' : undefined;
}
