/** Opens the source stream of a response stream, and pauses and resumes it as there is room for events. */
import { type Backlog, PageRequests } from './backlog.ts';
import type { SubscriptionUpstream } from '../upstream/subscriptions/subscription-upstream.ts';
import type { SourceStream } from './source-stream.ts';

export class PagedSource {
  readonly #open: () => SourceStream | undefined;
  readonly #pages: PageRequests;
  #source: SourceStream | undefined;
  #isPaused = false;

  /** `open` is called once, by {@link start} or when the backlog has room. It returns undefined when there is no source stream to open. */
  constructor(backlog: Backlog, open: () => SourceStream | undefined) {
    this.#open = open;
    this.#pages = new PageRequests(backlog, () => {
      this.#isPaused = false;
      if (this.#source) this.#source.resume();
      else this.#source = open();
    });
  }

  get isPaused(): boolean {
    return this.#isPaused;
  }

  /** Opens the source stream: at once, or when the backlog has room for the missed events that it sends first. */
  start(hasMissedEvents: boolean): void {
    if (hasMissedEvents) this.#pages.request();
    else this.#source = this.#open();
  }

  /** Pauses the source stream. Returns false when it cannot be paused. */
  pause(): boolean {
    this.#isPaused = this.#source?.pause() ?? false;
    return this.#isPaused;
  }

  /** To be called when the source stream has paused itself after a page of missed events. */
  pageEnded(): void {
    this.#isPaused = true;
  }

  /** To be called when the first event of a page has arrived, or none will. */
  settle(): void {
    this.#pages.settle();
  }

  /** Requests more of a paused source stream, which resumes when the backlog has room. */
  request(): void {
    if (this.#isPaused) this.#pages.request();
  }

  /** Subscribes at another address, or by another protocol, from the next time on. */
  move(upstream: SubscriptionUpstream): void {
    this.#source?.move(upstream);
  }

  /** Closes the source stream. */
  close(): void {
    this.#source?.close();
  }

  /** Closes the source stream, and gives up requests for room. */
  stop(): void {
    this.close();
    this.#pages.stop();
  }
}
