/**
 * Shares a busy process between its clients: requests beyond what it can work on at once wait, and are taken from each client in turn. A client that
 * has less than its part in hand never waits. While there is one client only, or time left, nothing waits.
 */
import { performance } from 'node:perf_hooks';

export interface Task {
  readonly client: string;
  /** What the request holds in memory while it waits. */
  readonly bytes: number;
  /** Called when it is the request's turn, perhaps at once. */
  readonly begin: (slot: Slot) => void;
}

/** What a request has while it is worked on. */
export interface Slot {
  /** Ends that, so that the next request begins. Further calls do nothing. */
  readonly release: () => void;
}

export interface Admission {
  /** Notices a request of this client, and returns whether there are others: only then are requests counted, and may have to wait. */
  isShared(client: string): boolean;
  /** Takes a request. Returns false, and never begins it, when too much of its client waits already. */
  enter(task: Task): boolean;
  /** Takes back a request that still waits. */
  leave(task: Task): void;
  close(): void;
}

export interface AdmissionOptions {
  /** Requests of one client that may wait, and the bytes that they may hold. */
  readonly maxWaiting?: number;
  readonly maxWaitingBytes?: number;
  /** Returns the share of time, 0 to 1, in which the event loop was busy since the last call. */
  readonly readUtilization?: () => number;
  /** Returns milliseconds since any moment. */
  readonly now?: () => number;
}

/** A client that has requests in hand or waiting. */
interface Client {
  inHand: number;
  readonly waiting: Set<Task>;
  bytes: number;
}

interface Held {
  readonly client: string;
  readonly since: number;
}

const MAX_WAITING = 2000;
const MAX_WAITING_BYTES = 8 * 1024 * 1024;
/** How often the number of requests in hand is adapted. */
const TICK_MS = 20;
/** From this share of time on the event loop counts as busy. */
const BUSY = 0.85;
/**
 * Requests in hand, of all clients: when a second client appears, and in a process that has no time left. There is no most: requests that wait for a
 * subgraph that hangs take no time of this process, and must not hold up those for others.
 */
const FIRST = 16;
const LEAST = 2;
/** How long after its last request a client counts as present. */
const PRESENCE_MS = 1000;
/** A request that takes longer waits for something else than this process: a slow subgraph, or its own client. */
const HELD_MS = 2000;

export function createAdmission(options: AdmissionOptions = {}): Admission {
  return new FairAdmission(options);
}

class FairAdmission implements Admission {
  readonly #options: Required<AdmissionOptions>;
  readonly #clients = new Map<string, Client>();
  /** Those of which requests wait, in the order of their turns. */
  readonly #turns = new Map<string, Client>();
  /** In the order in which they began. */
  readonly #held = new Set<Held>();
  /** How many requests may be in hand; more than that only of clients that have less than an equal part of it. */
  #limit = Infinity;
  #peak = 0;
  #latest: string | undefined;
  #latestAt = 0;
  #sharedUntil = 0;
  #timer: NodeJS.Timeout | undefined;

  constructor({
    maxWaiting = MAX_WAITING,
    maxWaitingBytes = MAX_WAITING_BYTES,
    readUtilization = watchUtilization(),
    now = () => performance.now(),
  }: AdmissionOptions) {
    this.#options = { maxWaiting, maxWaitingBytes, readUtilization, now };
  }

  isShared(client: string): boolean {
    this.#notice(client);
    return this.#timer !== undefined;
  }

  enter(task: Task): boolean {
    this.#notice(task.client);
    const client = this.#clients.get(task.client) ?? { inHand: 0, waiting: new Set(), bytes: 0 };
    if (this.#isBelowShare(client) || (this.#held.size < this.#limit && this.#turns.size === 0)) {
      task.begin(this.#hold(client, task));
      return true;
    }
    const { maxWaiting, maxWaitingBytes } = this.#options;
    if (client.waiting.size >= maxWaiting || client.bytes + task.bytes > maxWaitingBytes) return false;
    client.waiting.add(task);
    client.bytes += task.bytes;
    this.#turns.set(task.client, client);
    return true;
  }

  leave(task: Task): void {
    const client = this.#clients.get(task.client);
    if (client) this.#remove(client, task);
  }

  close(): void {
    clearInterval(this.#timer);
  }

  #remove(client: Client, task: Task): void {
    if (!client.waiting.delete(task)) return;
    client.bytes -= task.bytes;
    if (client.waiting.size === 0) this.#turns.delete(task.client);
  }

  #hold(client: Client, task: Task): Slot {
    if (client.inHand++ === 0) this.#clients.set(task.client, client);
    const held: Held = { client: task.client, since: this.#options.now() };
    this.#held.add(held);
    if (this.#held.size > this.#peak) this.#peak = this.#held.size;
    return {
      release: () => {
        this.#release(held);
      },
    };
  }

  #release(held: Held): void {
    const client = this.#clients.get(held.client);
    if (!this.#held.delete(held) || !client) return;
    client.inHand--;
    const [own] = client.waiting;
    if (own && this.#isBelowShare(client)) this.#beginNext(client, own);
    else if (client.inHand === 0) this.#clients.delete(held.client);
    this.#fill();
  }

  /** Whether the client has less in hand than an equal part of the limit: it need not wait for others whose requests take long. */
  #isBelowShare({ inHand }: Client): boolean {
    return inHand === 0 || inHand < Math.floor(this.#limit / (this.#clients.size || 1));
  }

  /** Begins a request that has waited, once the event loop has looked for what else has come: that keeps its turns short. */
  #beginNext(client: Client, task: Task): void {
    this.#remove(client, task);
    const slot = this.#hold(client, task);
    setImmediate(() => {
      task.begin(slot);
    });
  }

  /** Begins what may begin, of each client in turn. */
  #fill(): void {
    while (this.#held.size < this.#limit) {
      const [turn] = this.#turns;
      if (!turn) return;
      const [name, client] = turn;
      const [task] = client.waiting;
      // A Map keeps the order of insertion: the client goes to its end.
      this.#turns.delete(name);
      this.#turns.set(name, client);
      if (!task) return;
      this.#beginNext(client, task);
    }
  }

  /** Notices that there are others than the latest client. */
  #notice(client: string): void {
    const now = this.#options.now();
    if (client !== this.#latest) {
      if (this.#latest !== undefined && now - this.#latestAt < PRESENCE_MS) this.#share(now);
      this.#latest = client;
    }
    this.#latestAt = now;
  }

  #share(now: number): void {
    this.#sharedUntil = now + PRESENCE_MS;
    if (this.#timer) return;
    this.#limit = FIRST;
    this.#options.readUtilization();
    this.#timer = setInterval(() => {
      this.#adapt();
    }, TICK_MS).unref();
  }

  #adapt(): void {
    const now = this.#options.now();
    for (const held of this.#held) {
      if (now - held.since < HELD_MS) break;
      this.#release(held);
    }
    const isBusy = this.#options.readUtilization() >= BUSY;
    const isWaitedFor = this.#turns.size > 0;
    if (now > this.#sharedUntil && !isWaitedFor) {
      this.#limit = Infinity;
      clearInterval(this.#timer);
      this.#timer = undefined;
      // What is in hand counts no longer; its end, which may never come, finds nothing.
      this.#held.clear();
      this.#clients.clear();
    } else if (now > this.#sharedUntil) this.#limit *= 2;
    else if (isBusy) this.#limit = Math.max(LEAST, Math.floor(Math.min(this.#limit, this.#peak) / 2));
    else if (isWaitedFor) this.#limit += Math.max(1, Math.floor(this.#limit / 4));
    else this.#limit = FIRST;
    this.#peak = this.#held.size;
    this.#fill();
  }
}

/** One piece of work from its entry to its end. */
export class Turn {
  readonly #admission: Admission;
  readonly #asked: Pick<Task, 'client' | 'bytes'>;
  #task: Task | undefined;
  #slot: Slot | undefined;
  #isOver = false;

  constructor(admission: Admission, asked: Pick<Task, 'client' | 'bytes'>) {
    this.#admission = admission;
    this.#asked = asked;
  }

  get hasBegun(): boolean {
    return this.#slot !== undefined;
  }

  /** Calls `proceed` when it is its turn, unless it has ended before. Returns false when it may not even wait. */
  take(proceed: () => void): boolean {
    const begin = (slot: Slot) => {
      this.#slot = slot;
      if (this.#isOver) slot.release();
      else proceed();
    };
    this.#task = { ...this.#asked, begin };
    return this.#admission.enter(this.#task);
  }

  /**
   * Called when the client has gone. What has begun goes on behind it, and counts until it is two seconds old: a client that only begins requests
   * must not have more of them worked on than one that waits for responses (CVE-2023-44487).
   */
  abandon(): void {
    if (!this.#slot) this.end();
  }

  /** Called when the work is done, or nobody wants it any more. */
  end(): void {
    this.#isOver = true;
    if (this.#slot) this.#slot.release();
    else if (this.#task) this.#admission.leave(this.#task);
  }
}

function watchUtilization(): () => number {
  let last = performance.eventLoopUtilization();
  return () => {
    const now = performance.eventLoopUtilization();
    const { utilization } = performance.eventLoopUtilization(now, last);
    last = now;
    return utilization;
  };
}
