/**
 * Shares a busy process between its clients: requests beyond what it can process at once wait, and begin for each client in turn. A client with
 * fewer requests in flight than its equal share never waits, nor does one that has used little of the event loop's time. The exception is a client
 * whose requests stop the event loop: they begin one after the other, between those of others. While there is only one client, or the event loop is
 * idle, no request waits.
 */
import { performance } from 'node:perf_hooks';
import { type Client, ClientQueues, type Slot, type Task } from './client-queues.ts';
import { CostlyRequests } from './costly-requests.ts';
import { InFlightLimit } from './in-flight-limit.ts';
import { RecentUse } from './recent-use.ts';
import { watchUtilization } from '../process/utilization.ts';

/** Decides when requests begin. */
export interface Admission {
  /** Records a request of this client. Returns whether other clients are present: only then are requests counted, and may have to wait. */
  isShared(client: string): boolean;
  /** Returns whether several clients are present. */
  hasSeveralClients(): boolean;
  /** Admits a request, or queues it. Returns false, and never begins it, when its client has reached the limits for waiting requests. */
  enter(task: Task): boolean;
  /** Removes a waiting request. Does nothing for any other. */
  leave(task: Task): void;
  /** Calls `act`. Its time counts as time that the client has used of the event loop, while clients share the process. */
  measure(client: string, act: () => void): void;
  /** Counts milliseconds of the event loop's time as used by the client, while clients share the process. */
  charge(client: string, milliseconds: number): void;
  /** Returns the time in milliseconds, by the monotonic clock of what is charged. */
  now(): number;
  /** Stops the timer; waiting requests never begin. */
  close(): void;
}

/** The limits for waiting requests, and the clocks. */
export interface AdmissionOptions {
  /** Requests of one client that may wait, and the bytes that they may hold in memory. */
  readonly maxWaiting?: number;
  readonly maxWaitingBytes?: number;
  /** Returns the share of time, 0 to 1, in which the event loop was busy since the last call. */
  readonly readUtilization?: () => number;
  /** Returns a monotonic time in milliseconds. */
  readonly now?: () => number;
}

/** A request in flight, and when it began. */
interface Held {
  readonly client: string;
  readonly since: number;
  readonly kind: Kind;
}

/** Why a request began: its client had used little time, its requests are costly and it was their turn, or there was room. */
type Kind = 'light' | 'costly' | 'other';

/** The limit of all requests in flight. */
const LIMIT = { initial: 16, least: 2 };

const MAX_WAITING = 2000;
const MAX_WAITING_BYTES = 8 * 1024 * 1024;
/** How often the limit of requests in flight is adapted. */
const TICK_MS = 20;
/** The event loop counts as busy from this share of time on. */
const BUSY = 0.85;
/**
 * Requests that a client which has used little time may have in flight beside the limit, and those of all such clients. Otherwise its few cheap
 * requests wait as long as costly ones of others take.
 */
const LIGHT_IN_FLIGHT = 8;
const LIGHT_BESIDE_LIMIT = 16;
/** How long after its last request a client counts as present. */
const PRESENCE_MS = 1000;
/** A request in flight for longer waits for something other than this process: a slow subgraph, or its own client. */
const HELD_MS = 2000;
/** How long waiting requests begin in one iteration of the event loop. A longer iteration delays the requests that need not wait. */
const BEGINNING_MS = 4;

/** Creates an admission. Its timer runs only while several clients are present. */
export function createAdmission(options: AdmissionOptions = {}): Admission {
  return new FairAdmission(options);
}

class FairAdmission implements Admission {
  readonly #options: Required<AdmissionOptions>;
  readonly #queues = new ClientQueues();
  /** Clients below their equal share may exceed it. */
  readonly #limit = new InFlightLimit(LIMIT);
  /** Requests in flight, in the order in which they began. */
  readonly #held = new Set<Held>();
  readonly #use: RecentUse;
  readonly #costly: CostlyRequests;
  #lightInFlight = 0;
  #tickedAt = 0;
  #latest: string | undefined;
  #latestAt = 0;
  #sharedUntil = 0;
  #timer: NodeJS.Timeout | undefined;
  #isFilling = false;

  constructor({
    maxWaiting = MAX_WAITING,
    maxWaitingBytes = MAX_WAITING_BYTES,
    readUtilization = watchUtilization(),
    now = () => performance.now(),
  }: AdmissionOptions) {
    this.#options = { maxWaiting, maxWaitingBytes, readUtilization, now };
    this.#use = new RecentUse(now, (client, milliseconds) => {
      if (this.#use.isCostly(client)) this.#costly.charge(milliseconds);
    });
    this.#costly = new CostlyRequests(now);
  }

  isShared(client: string): boolean {
    this.#record(client);
    return this.hasSeveralClients();
  }

  hasSeveralClients(): boolean {
    return this.#timer !== undefined;
  }

  enter(task: Task): boolean {
    this.#record(task.client);
    const client = this.#queues.find(task.client);
    const isCostly = this.#use.isCostly(task.client);
    const isLight = !isCostly && this.#mayExceed(task.client, client);
    if (isLight || (!isCostly && (this.#isBelowShare(client) || (this.#hasRoom() && !this.#queues.hasWaiting)))) {
      task.begin(this.#hold(client, task, isLight ? 'light' : 'other'));
      return true;
    }
    const { maxWaiting, maxWaitingBytes } = this.#options;
    if (client.waiting.size >= maxWaiting || client.bytes + task.bytes > maxWaitingBytes) return false;
    this.#queues.wait(client, task, isCostly);
    this.#fill();
    return true;
  }

  leave(task: Task): void {
    this.#queues.remove(task);
  }

  measure(client: string, act: () => void): void {
    if (this.#timer) this.#use.measure(client, act);
    else act();
  }

  charge(client: string, milliseconds: number): void {
    if (this.#timer) this.#use.add(client, milliseconds);
  }

  now(): number {
    return this.#options.now();
  }

  close(): void {
    clearInterval(this.#timer);
  }

  #hold(client: Client, task: Task, kind: Kind): Slot {
    this.#queues.enter(task.client, client);
    const held: Held = { client: task.client, since: this.#options.now(), kind };
    this.#held.add(held);
    if (kind === 'light') this.#lightInFlight++;
    else if (kind === 'costly') this.#costly.enter();
    this.#limit.observe(this.#held.size);
    return {
      release: () => {
        this.#release(held);
      },
    };
  }

  #release(held: Held): void {
    const client = this.#drop(held);
    const own = client?.waiting.values().next().value;
    if (client && own && !client.isCostly) {
      const isLight = this.#mayExceed(held.client, client);
      if (isLight || this.#isBelowShare(client)) this.#beginNext(client, own, isLight);
    }
    this.#fill();
  }

  /** Ends the count of a request as in flight. Returns its client, and undefined for a request that no longer counted. */
  #drop(held: Held): Client | undefined {
    if (!this.#held.delete(held)) return undefined;
    if (held.kind === 'light') this.#lightInFlight--;
    else if (held.kind === 'costly') this.#costly.leave();
    return this.#queues.leave(held.client);
  }

  /** Returns whether the client has fewer requests in flight than an equal share of the limit: it does not wait for slow requests of others. */
  #isBelowShare({ inFlight }: Client): boolean {
    return inFlight === 0 || inFlight < Math.floor(this.#limit.value / (this.#queues.size || 1));
  }

  /** Returns whether the client has used so little time that a request of it may begin beside the limit, however many of others are in flight. */
  #mayExceed(name: string, { inFlight }: Client): boolean {
    return inFlight > 0 && inFlight < LIGHT_IN_FLIGHT && this.#lightInFlight < LIGHT_BESIDE_LIMIT && this.#use.isLight(name);
  }

  #hasRoom(): boolean {
    return this.#held.size < this.#limit.value;
  }

  /** Begins a waiting request after the event loop has polled for I/O, which keeps its iterations short. */
  #beginNext(client: Client, task: Task, isLight: boolean): void {
    this.#queues.remove(task);
    const slot = this.#hold(client, task, isLight ? 'light' : 'other');
    setImmediate(() => {
      task.begin(slot);
    });
  }

  /**
   * Begins the waiting requests that may begin, some in each iteration of the event loop: hundreds at once would stop it for hundreds of
   * milliseconds. Of costly clients one in each iteration.
   */
  #fill(): void {
    if (this.#isFilling || !(this.#mayBegin('other') || this.#mayBegin('costly'))) return;
    this.#isFilling = true;
    setImmediate(() => {
      this.#isFilling = false;
      const { now } = this.#options;
      const until = now() + BEGINNING_MS;
      try {
        while (this.#beginTurn('other') && now() < until);
        this.#beginTurn('costly');
      } finally {
        this.#fill();
      }
    });
  }

  #mayBegin(kind: 'costly' | 'other'): boolean {
    if (kind === 'other') return this.#queues.hasWaiting && this.#hasRoom();
    return this.#queues.hasCostlyWaiting && this.#costly.mayBegin(this.#held.size - this.#costly.inFlight);
  }

  /** Begins a request of the client whose turn it is. Returns false when none waits that may begin. */
  #beginTurn(kind: 'costly' | 'other'): boolean {
    const next = this.#mayBegin(kind) ? this.#queues.takeNext(kind) : undefined;
    if (!next) return false;
    next.task.begin(this.#hold(next.client, next.task, kind));
    return true;
  }

  /** Records the client, and starts to share the process when another one was recorded shortly before. */
  #record(client: string): void {
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
    this.#limit.begin(this.#held.size);
    this.#costly.begin();
    this.#tickedAt = now;
    this.#options.readUtilization();
    this.#timer = setInterval(() => {
      this.#adapt();
    }, TICK_MS).unref();
  }

  #adapt(): void {
    const now = this.#options.now();
    for (const held of this.#held) {
      if (now - held.since < HELD_MS) break;
      this.#drop(held);
    }
    const elapsed = now - this.#tickedAt;
    this.#use.decay(elapsed);
    this.#tickedAt = now;
    const isBusy = this.#options.readUtilization() >= BUSY;
    const { hasWaiting, hasCostlyWaiting } = this.#queues;
    const isShared = now <= this.#sharedUntil;
    const load = { isBusy, intervals: Math.max(1, Math.round(elapsed / TICK_MS)), isShared };
    this.#limit.adapt({ ...load, hasWaiting, inFlight: this.#held.size });
    this.#costly.adapt({ ...load, hasWaiting: hasCostlyWaiting });
    if (!isShared && !hasWaiting && !hasCostlyWaiting) this.#end();
    this.#fill();
  }

  /** Ends the count: a later release of a request in flight does nothing. */
  #end(): void {
    clearInterval(this.#timer);
    this.#timer = undefined;
    this.#held.clear();
    this.#lightInFlight = 0;
    this.#costly.clear();
    this.#queues.clear();
    this.#use.clear();
  }
}
