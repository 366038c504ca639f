/** The subscriptions whose events subgraphs send to this process, by requests of their own. */
import { randomUUID } from 'node:crypto';
import type { SourceReceiver } from '../subscription-upstream.ts';
import { type CallbackIdentity, readCallbackMessage } from './callback-message.ts';

/** A subscription is lost after this many intervals without a message. */
const LOST_AFTER = 3;

/** What a subgraph gets with a subscription, as `extensions.subscription`. */
export interface CallbackTicket {
  readonly callbackUrl: string;
  readonly subscriptionId: string;
  readonly verifier: string;
  readonly heartbeatIntervalMs: number;
}

interface OpenCallback {
  readonly identity: CallbackIdentity;
  readonly receiver: SourceReceiver;
  readonly silence: NodeJS.Timeout;
}

export interface CallbackOptions {
  /** The address of this process for subgraphs. The id of a subscription is appended to its path. */
  readonly url: string;
  /** How often subgraphs ask whether a subscription still exists. */
  readonly heartbeatMs: number;
}

export class CallbackRegistry {
  readonly #options: CallbackOptions;
  readonly #open = new Map<string, OpenCallback>();

  constructor(options: CallbackOptions) {
    this.#options = options;
  }

  /** Returns whether the subscription is open. */
  has(id: string): boolean {
    return this.#open.has(id);
  }

  /** Opens a subscription. It is lost when the subgraph sends nothing for three intervals. */
  open(receiver: SourceReceiver): CallbackTicket {
    const { url, heartbeatMs } = this.#options;
    const [id, verifier] = [randomUUID(), randomUUID()];
    const silence = setTimeout(() => {
      this.close(id)?.lost({ isUnauthorized: false, cause: new Error('The subgraph did not call back in time') });
    }, heartbeatMs * LOST_AFTER).unref();
    this.#open.set(id, { identity: { id, verifier }, receiver, silence });
    return { callbackUrl: `${url.replace(/\/$/, '')}/${id}`, subscriptionId: id, verifier, heartbeatIntervalMs: heartbeatMs };
  }

  /** Ends a subscription: the subgraph learns it with its next message. Returns its receiver; undefined where it has ended before. */
  close(id: string): SourceReceiver | undefined {
    const open = this.#open.get(id);
    clearTimeout(open?.silence);
    this.#open.delete(id);
    return open?.receiver;
  }

  /** Handles a message. Returns the status of the response: 404 has the subgraph end the subscription. */
  receive(id: string, text: string): 202 | 204 | 400 | 404 {
    const open = this.#open.get(id);
    if (!open) return 404;
    const message = readCallbackMessage(text, open.identity);
    if (!message) return 400;
    open.silence.refresh();
    if (message.action === 'next') open.receiver.next(message.payload, text.length);
    if (message.action !== 'complete') return 204;
    this.close(id);
    if (message.errors.length > 0) open.receiver.refused(message.errors);
    else open.receiver.complete();
    return 202;
  }
}
