/**
 * The source stream of one subscription (GraphQL §6.2.3.1): a subscription of one subgraph, which is requested again when the connection is lost.
 *
 * A subgraph with positions gets `extensions.resume`. Its first message is `{"data": null, "extensions": {"position": p}}`; each event has its
 * own position, and from time to time there is a position without an event. After a loss the stream continues `after` the last position: no event is
 * missed or repeated. With `first` the subgraph completes after that many events, and the next page is requested when those are done.
 * Without positions it cannot be determined which events were missed, so a loss ends the stream (docs/adr/0009).
 */
import { readError } from '../execute/execution-errors.ts';
import type { SubgraphError, SubgraphResult } from '../program/result.ts';
import { GONE_MESSAGE } from '../request/position.ts';
import { toErrorList } from '../upstream/subscriptions/subgraph-message.ts';
import type {
  ConnectionLoss,
  SourceReceiver,
  SubscribePayload,
  SubscriptionUpstream,
} from '../upstream/subscriptions/subscription-upstream.ts';
import { Reconnection } from './reconnection.ts';

export interface SourceStreamOptions {
  readonly upstream: SubscriptionUpstream;
  readonly identity: readonly string[];
  /** Whether it is executed without the credential of a caller. A subgraph that rejects that is lost as for any other reason. */
  readonly isPublic: boolean;
  readonly requestId: string;
  readonly payload: Omit<SubscribePayload, 'extensions'>;
  /** The position after which the stream begins. Default: it begins now. */
  readonly after?: string | undefined;
  /** How long a lost connection is retried, from the loss on. */
  readonly reconnectMs: number;
  readonly now?: () => number;
  readonly random?: () => number;
}

/** Receives the events in order, and nothing after `complete`, `refused` or `lost`. */
export interface SourceStreamReceiver {
  /** `position` is that of the event, if the subgraph sends positions; `size` about how many bytes it had. */
  next(event: SubgraphResult, position: string | undefined, size: number): void;
  /** A page is complete: the stream waits for {@link SourceStream.resume}. */
  pageEnded(): void;
  /** The stream begins here, or got here without an event. A known position is where it continues after a loss. */
  reached(position: string, isKnown: boolean): void;
  complete(): void;
  refused(errors: readonly SubgraphError[]): void;
  /** The connection was lost and is not retried any more. */
  lost(loss: ConnectionLoss): void;
}

/** Events of a page: more than can be completed soon would be sent for nothing. */
export const PAGE_EVENTS = 200;

export class SourceStream {
  readonly #options: SourceStreamOptions;
  readonly #receiver: SourceStreamReceiver;
  readonly #reconnection: Reconnection;
  #upstream: SubscriptionUpstream;
  #position: string | undefined;
  #hasPositions = false;
  /** Whether the subgraph has sent a position since it was asked to continue after one, or was not asked. */
  #isConfirmed = true;
  /** Events since the last request. */
  #received = 0;
  #isEnded = false;
  #isPaused = false;
  #unsubscribe: () => void = () => undefined;

  /** Subscribes at once. */
  constructor(options: SourceStreamOptions, receiver: SourceStreamReceiver) {
    this.#options = options;
    this.#receiver = receiver;
    this.#upstream = options.upstream;
    this.#position = options.after;
    this.#reconnection = new Reconnection(options, () => {
      this.#subscribe();
    });
    this.#subscribe();
  }

  close(): void {
    this.#end(() => {
      this.#unsubscribe();
    });
  }

  /** Stops the events for now. Returns false where that would lose events: without positions. */
  pause(): boolean {
    if (!this.#hasPositions) return false;
    this.#isPaused = true;
    this.#unsubscribe();
    return true;
  }

  /** Continues after the last event before {@link pause}, or with the next page. */
  resume(): void {
    if (!this.#isPaused || this.#isEnded) return;
    this.#isPaused = false;
    this.#subscribe();
  }

  /** Subscribes at another address, or by another protocol, from the next time on. */
  move(upstream: SubscriptionUpstream): void {
    this.#upstream = upstream;
  }

  #subscribe(): void {
    const { identity, requestId, payload } = this.#options;
    const isPaged = this.#position !== undefined;
    this.#isConfirmed = !isPaged;
    const resume = isPaged ? { after: this.#position, first: PAGE_EVENTS } : {};
    this.#received = 0;
    const request = { identity, requestId, payload: { ...payload, extensions: { resume } } };
    try {
      this.#unsubscribe = this.#upstream.subscribe(request, this.#createReceiver(isPaged));
    } catch (error) {
      // An address that no connection can be opened to. An exception would leave a stream that never ends, or end the process.
      this.#lose({ isUnauthorized: false, isFinal: true, cause: error as Error });
    }
  }

  #createReceiver(isPaged: boolean): SourceReceiver {
    const { isPublic } = this.#options;
    return {
      next: (result, size) => {
        if (!this.#isEnded && !this.#isPaused) this.#receive(result, size);
      },
      complete: () => {
        this.#complete(isPaged);
      },
      refused: (errors) => {
        if (!this.#isPaused) this.#refuse(errors);
      },
      lost: (loss) => {
        if (!this.#isEnded && !this.#isPaused) this.#lose(isPublic ? { ...loss, isUnauthorized: false } : loss);
      },
    };
  }

  #receive(result: Parameters<SourceReceiver['next']>[0], size: number): void {
    const sent = result.extensions?.['position'];
    const position = typeof sent === 'string' ? sent : undefined;
    const isKnown = this.#hasPositions && position === this.#position;
    if (position !== undefined) {
      this.#position = position;
      this.#hasPositions = this.#isConfirmed = true;
    }
    if (position !== undefined && (result.data === null || result.data === undefined) && !result.errors) {
      this.#reconnection.noteContact();
      this.#receiver.reached(position, isKnown);
      return;
    }
    // Without positions the subgraph does not know what was missed.
    if (!this.#isConfirmed && result.data !== undefined) this.#endUnconfirmed();
    // Without data it is no event: the subscription failed (GraphQL §6.2.3.1).
    else if (result.data === undefined && result.errors) this.#refuse(toErrorList(result.errors));
    else {
      this.#reconnection.reset();
      this.#received++;
      this.#receiver.next(result, position, size);
    }
  }

  /** Ends the stream because the subgraph does not continue after the position of the client, or after the last one that it sent itself. */
  #endUnconfirmed(): void {
    this.#unsubscribe();
    this.#end(() => {
      if (!this.#hasPositions) this.#receiver.refused([{ message: GONE_MESSAGE, extensions: { code: 'GONE' } }]);
      else this.#receiver.lost({ isUnauthorized: false, cause: new Error('The subgraph sends no positions any more') });
    });
  }

  #complete(isPaged: boolean): void {
    if (this.#isPaused) return;
    if (isPaged && this.#received === PAGE_EVENTS) {
      this.#isPaused = true;
      this.#receiver.pageEnded();
      return;
    }
    this.#end(() => {
      this.#receiver.complete();
    });
  }

  #refuse(errors: readonly SubgraphError[]): void {
    if (this.#isEnded) return;
    this.#unsubscribe();
    if (this.#position !== undefined && errors.every(isTemporary)) {
      this.#lose({ isUnauthorized: false, cause: new Error('The subgraph is temporarily unavailable') });
      return;
    }
    this.#end(() => {
      this.#receiver.refused(errors);
    });
  }

  #lose(loss: ConnectionLoss): void {
    const isFinal = this.#position === undefined || loss.isUnauthorized || loss.isFinal === true;
    if (!isFinal && this.#reconnection.retry()) return;
    this.#end(() => {
      this.#receiver.lost(loss);
    });
  }

  #end(notify: () => void): void {
    if (this.#isEnded) return;
    this.#isEnded = true;
    this.#reconnection.stop();
    notify();
  }
}

/** A subgraph that shuts down, or whose database is unavailable, reports SERVICE_UNAVAILABLE. */
function isTemporary(error: SubgraphError): boolean {
  return readError(error, '').extensions['code'] === 'SERVICE_UNAVAILABLE';
}
