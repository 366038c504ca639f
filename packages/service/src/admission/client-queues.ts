/**
 * The clients of an admission: how much each has in flight, and its waiting requests, which begin for each client in turn. Clients whose requests are
 * costly have turns of their own. No I/O.
 */

/** A request, or other work, to be admitted. */
export interface Task {
  readonly client: string;
  /** What the request holds in memory while it waits. */
  readonly bytes: number;
  /** Called when it is the request's turn, perhaps at once. */
  readonly begin: (slot: Slot) => void;
}

/** The place of a request in flight. */
export interface Slot {
  /** Gives the place to the next request. Further calls do nothing. */
  readonly release: () => void;
}

/** A client with requests that are in flight or waiting. */
export interface Client {
  inFlight: number;
  readonly waiting: Set<Task>;
  /** What its waiting requests hold in memory. */
  bytes: number;
  /** Whether its waiting requests have the turns of costly clients. */
  isCostly: boolean;
}

type Turns = Map<string, Client>;

/** Clients by their names; each is kept while it has a request. */
export class ClientQueues {
  readonly #clients = new Map<string, Client>();
  /** Clients with waiting requests, in the order of their turns. */
  readonly #turns: Turns = new Map();
  readonly #costlyTurns: Turns = new Map();

  /** The number of clients. */
  get size(): number {
    return this.#clients.size;
  }

  /** Whether requests wait of clients that are not costly. */
  get hasWaiting(): boolean {
    return this.#turns.size > 0;
  }

  get hasCostlyWaiting(): boolean {
    return this.#costlyTurns.size > 0;
  }

  /** Returns a client; one without requests has neither any in flight nor waiting. */
  find(name: string): Client {
    return this.#clients.get(name) ?? { inFlight: 0, waiting: new Set(), bytes: 0, isCostly: false };
  }

  /** Counts a request of the client as in flight. */
  enter(name: string, client: Client): void {
    if (client.inFlight++ === 0) this.#clients.set(name, client);
  }

  /** Ends the count of a request as in flight. Returns its client, undefined for one that is no longer known. */
  leave(name: string): Client | undefined {
    const client = this.#clients.get(name);
    if (!client) return undefined;
    client.inFlight--;
    if (client.inFlight === 0 && client.waiting.size === 0) this.#clients.delete(name);
    return client;
  }

  /** Adds a waiting request. With `isCostly` all waiting requests of its client have the turns of costly clients. */
  wait(client: Client, task: Task, isCostly: boolean): void {
    client.waiting.add(task);
    client.bytes += task.bytes;
    if (isCostly && !client.isCostly) {
      client.isCostly = true;
      this.#turns.delete(task.client);
    }
    this.#turnsOf(client).set(task.client, client);
    this.#clients.set(task.client, client);
  }

  /** Removes a waiting request. Does nothing for any other. */
  remove(task: Task): void {
    const client = this.#clients.get(task.client);
    if (!client?.waiting.delete(task)) return;
    client.bytes -= task.bytes;
    if (client.waiting.size > 0) return;
    this.#turnsOf(client).delete(task.client);
    client.isCostly = false;
    if (client.inFlight === 0) this.#clients.delete(task.client);
  }

  /** Removes and returns a request of the client whose turn it is, which has its next turn after all others. */
  takeNext(kind: 'costly' | 'other'): { readonly client: Client; readonly task: Task } | undefined {
    const turns = kind === 'costly' ? this.#costlyTurns : this.#turns;
    const [turn] = turns;
    if (!turn) return undefined;
    const [name, client] = turn;
    const [task] = client.waiting;
    // A Map keeps the order of insertion: this puts the client last.
    turns.delete(name);
    if (!task) return undefined;
    turns.set(name, client);
    this.remove(task);
    return { client, task };
  }

  /** Forgets all clients. None may have waiting requests. */
  clear(): void {
    this.#clients.clear();
  }

  #turnsOf({ isCostly }: Client): Turns {
    return isCostly ? this.#costlyTurns : this.#turns;
  }
}
