/**
 * Counts the requests of one interval by operation and client, bounded in names and bytes. It is written by every request: two look-ups by name, one by
 * the operation, and a few additions. No I/O.
 */
import type { OperationUsage, RequestUsage } from '../request/operation-usage.ts';
import type { ClientApplication } from '../request/operation.ts';
import { boundName } from './client-names.ts';
import { OpenRequest, type RequestEnd, type RequestSink, type UsedRequest } from './open-request.ts';
import { sizeOfOperation } from './operation-size.ts';

/** Names of clients, and versions of each. Further ones count as {@link OTHER}. */
const MAX_CLIENTS = 1000;
const MAX_VERSIONS = 100;
/** The name and the version of clients beyond the bounds. */
export const OTHER = '(other)';

/** What a row takes in memory, with its entry in a map. */
const ROW_BYTES = 400;

/** What a destination wants to know of the requests of a row. */
export interface RowCounts {
  /**
   * Counts a request. Returns about how many bytes of memory that takes, beside those of the row. When the log is full it takes none: undefined says
   * that the request is not counted.
   */
  add(end: RequestEnd, isFull: boolean): number | undefined;
}

/** Requests of one operation by one version of a client. */
export interface UsageRow<Counts> {
  readonly operation: OperationUsage;
  /** Null for a client without a name. */
  readonly client: string | null;
  readonly version: string | null;
  readonly counts: Counts;
}

/** The rows of one version of a client. */
interface ClientRows<Counts> {
  readonly client: string | null;
  readonly version: string | null;
  readonly rows: Map<OperationUsage, UsageRow<Counts>>;
}

export interface UsageLogOptions<Counts> {
  readonly maxBytes: number;
  /** Called for each request that is not counted, because more rows would take more than `maxBytes`. */
  readonly onDrop: () => void;
  readonly createCounts: () => Counts;
}

export class UsageLog<Counts extends RowCounts> implements RequestSink {
  readonly #options: UsageLogOptions<Counts>;
  #clients = new Map<string, Map<string, ClientRows<Counts>>>();
  #operations = new Set<OperationUsage>();
  #bytes = 0;

  constructor(options: UsageLogOptions<Counts>) {
    this.#options = options;
  }

  /** About how much memory it takes. */
  get bytes(): number {
    return this.#bytes;
  }

  /** Begins the record of a request. */
  begin(request: UsedRequest): RequestUsage {
    return new OpenRequest(this, request);
  }

  add(operation: OperationUsage, { name, version }: ClientApplication, end: RequestEnd): void {
    const client = this.#find(name ?? '', version ?? '');
    const row = client.rows.get(operation) ?? this.#create(client, operation);
    const added = row?.counts.add(end, this.#isFull());
    if (added === undefined) this.#options.onDrop();
    else this.#bytes += added;
  }

  /** Returns the rows so far, and begins anew. */
  take(): UsageRow<Counts>[] {
    const rows = [...this.#clients.values()].flatMap((versions) => [...versions.values()].flatMap((each) => [...each.rows.values()]));
    this.#clients = new Map();
    this.#operations = new Set();
    this.#bytes = 0;
    return rows;
  }

  #isFull(): boolean {
    return this.#bytes >= this.#options.maxBytes;
  }

  #find(name: string, version: string): ClientRows<Counts> {
    return this.#clients.get(name)?.get(version) ?? this.#findNew(name, version);
  }

  /** Returns the rows of a client that was not counted yet, or whose names are not kept as they are. */
  #findNew(givenName: string, givenVersion: string): ClientRows<Counts> {
    const name = bound(givenName, this.#clients, MAX_CLIENTS);
    let versions = this.#clients.get(name);
    if (!versions) this.#clients.set(name, (versions = new Map<string, ClientRows<Counts>>()));
    const version = bound(givenVersion, versions, MAX_VERSIONS);
    let client = versions.get(version);
    if (!client) {
      client = { client: name || null, version: version || null, rows: new Map() };
      // A client of which no row can be kept is not kept either.
      if (this.#isFull()) return client;
      versions.set(version, client);
      this.#bytes += ROW_BYTES;
    }
    return client;
  }

  #create({ client, version, rows }: ClientRows<Counts>, operation: OperationUsage): UsageRow<Counts> | undefined {
    if (this.#isFull()) return undefined;
    this.#bytes += ROW_BYTES;
    if (!this.#operations.has(operation)) {
      this.#operations.add(operation);
      this.#bytes += sizeOfOperation(operation);
    }
    const row: UsageRow<Counts> = { operation, client, version, counts: this.#options.createCounts() };
    rows.set(operation, row);
    return row;
  }
}

/** Returns the name that is kept: without control characters, cut to its length, or OTHER when there are too many. */
function bound(name: string, known: ReadonlyMap<string, unknown>, max: number): string {
  const cut = boundName(name);
  return known.has(cut) || known.size < max ? cut : OTHER;
}
