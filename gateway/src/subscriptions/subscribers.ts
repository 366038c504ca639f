/** Who listens to a feed: told alike, free to go at any time, and to be led over to another feed of the same events. */
import type { Listener, LiveEvent } from '../engines/engine.ts';

export interface AudienceCounts {
  listeners: number;
  delivered: number;
}

export interface AudienceOptions {
  readonly counts: AudienceCounts;
  /** How many events have come that are not told. */
  readonly pending: () => number;
  /** The last one has gone by himself. */
  readonly onEmpty: () => void;
}

interface Seat {
  audience: Audience;
  /** Who leaves once the events that had come when he said so are told. */
  leave: { events: number; readonly done: () => void } | undefined;
}

export class Audience {
  readonly #options: AudienceOptions;
  readonly #seats = new Map<Listener, Seat>();

  constructor(options: AudienceOptions) {
    this.#options = options;
  }

  get size(): number {
    return this.#seats.size;
  }

  add(listener: Listener, operationName: string | undefined): void {
    const seat: Seat = { audience: this, leave: undefined };
    this.#seats.set(listener, seat);
    this.#options.counts.listeners++;
    listener.begin({
      operationName,
      stop: () => {
        seat.audience.#remove(listener);
      },
      finish: (done) => {
        seat.audience.#finish(listener, done);
      },
    });
  }

  tell(event: LiveEvent): void {
    for (const [listener, { leave }] of this.#seats) {
      listener.next(event);
      this.#options.counts.delivered++;
      if (leave && --leave.events === 0) this.#remove(listener);
    }
  }

  /** Has everybody listen to another one from now on. Moves nobody and gives false while somebody is about to leave. */
  moveTo(other: Audience): boolean {
    for (const { leave } of this.#seats.values()) if (leave) return false;
    for (const [listener, seat] of this.#seats) {
      seat.audience = other;
      other.#seats.set(listener, seat);
    }
    this.#seats.clear();
    return true;
  }

  /** Lets go of everybody without a word, and gives who it was. */
  release(): Listener[] {
    const seats = [...this.#seats];
    this.#seats.clear();
    this.#options.counts.listeners -= seats.length;
    for (const [, { leave }] of seats) leave?.done();
    return seats.map(([listener]) => listener);
  }

  #finish(listener: Listener, done: () => void): void {
    const seat = this.#seats.get(listener);
    const events = this.#options.pending();
    if (seat && events > 0) seat.leave = { events, done };
    else {
      this.#remove(listener);
      done();
    }
  }

  #remove(listener: Listener): void {
    const seat = this.#seats.get(listener);
    if (!seat) return;
    this.#seats.delete(listener);
    this.#options.counts.listeners--;
    if (this.#seats.size === 0) this.#options.onEmpty();
    // Also of one who has gone before all was told.
    seat.leave?.done();
  }
}
