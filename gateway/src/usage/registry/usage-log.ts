/**
 * Counts the requests of one interval by operation and client, bounded in names and bytes. It is written by every request: two look-ups by name, one by
 * the operation, and a few additions. No I/O.
 */
import type { OperationUsage, RequestUsage } from '../../request/operation-usage.ts';
import type { ClientApplication } from '../../request/operation.ts';
import { boundName } from '../client-names.ts';
import { OpenRequest, type RequestEnd, type RequestSink } from '../open-request.ts';
import { sizeOfOperation } from '../operation-size.ts';

/** Durations are counted in classes: below 0.25 ms, and then up to twice as much each; the last one has no end. */
export const DURATION_CLASSES = 18;
const CLASSES_PER_MS = 4;

/** Names of clients, and versions of each. Further ones count as {@link OTHER}. */
const MAX_CLIENTS = 1000;
const MAX_VERSIONS = 100;
/** The name and the version of clients beyond the bounds. */
export const OTHER = '(other)';

/** What a row takes in memory, with its entry in a map. */
const ROW_BYTES = 400;

/** Requests of one operation by one version of a client. */
export interface UsageRow {
  readonly operation: OperationUsage;
  /** Null for a client without a name. */
  readonly client: string | null;
  readonly version: string | null;
  count: number;
  errors: number;
  readonly durations: number[];
}

/** The rows of one version of a client. */
interface ClientRows {
  readonly client: string | null;
  readonly version: string | null;
  readonly rows: Map<OperationUsage, UsageRow>;
}

export class UsageLog implements RequestSink {
  readonly #maxBytes: number;
  readonly #onDrop: () => void;
  #clients = new Map<string, Map<string, ClientRows>>();
  #operations = new Set<OperationUsage>();
  #bytes = 0;

  /** `onDrop` is called for each request that is not counted, because more rows would take more than `maxBytes`. */
  constructor(maxBytes: number, onDrop: () => void) {
    this.#maxBytes = maxBytes;
    this.#onDrop = onDrop;
  }

  /** About how much memory it takes. */
  get bytes(): number {
    return this.#bytes;
  }

  /** Begins the record of a request. */
  begin(client: ClientApplication): RequestUsage {
    return new OpenRequest(this, client);
  }

  add(operation: OperationUsage, { name, version }: ClientApplication, { ms, isError }: RequestEnd): void {
    const client = this.#find(name ?? '', version ?? '');
    const row = client.rows.get(operation) ?? this.#create(client, operation);
    if (!row) {
      this.#onDrop();
      return;
    }
    row.count++;
    if (isError) row.errors++;
    const at = toDurationClass(ms);
    row.durations[at] = (row.durations[at] ?? 0) + 1;
  }

  /** Returns the rows so far, and begins anew. */
  take(): UsageRow[] {
    const rows = [...this.#clients.values()].flatMap((versions) => [...versions.values()].flatMap((each) => [...each.rows.values()]));
    this.#clients = new Map();
    this.#operations = new Set();
    this.#bytes = 0;
    return rows;
  }

  #find(name: string, version: string): ClientRows {
    return this.#clients.get(name)?.get(version) ?? this.#findNew(name, version);
  }

  /** Returns the rows of a client that was not counted yet, or whose names are not kept as they are. */
  #findNew(givenName: string, givenVersion: string): ClientRows {
    const name = bound(givenName, this.#clients, MAX_CLIENTS);
    let versions = this.#clients.get(name);
    if (!versions) this.#clients.set(name, (versions = new Map<string, ClientRows>()));
    const version = bound(givenVersion, versions, MAX_VERSIONS);
    let client = versions.get(version);
    if (!client) {
      client = { client: name || null, version: version || null, rows: new Map() };
      // A client of which no row can be kept is not kept either.
      if (this.#bytes >= this.#maxBytes) return client;
      versions.set(version, client);
      this.#bytes += ROW_BYTES;
    }
    return client;
  }

  #create({ client, version, rows }: ClientRows, operation: OperationUsage): UsageRow | undefined {
    if (this.#bytes >= this.#maxBytes) return undefined;
    this.#bytes += ROW_BYTES;
    if (!this.#operations.has(operation)) {
      this.#operations.add(operation);
      this.#bytes += sizeOfOperation(operation);
    }
    const row: UsageRow = { operation, client, version, count: 0, errors: 0, durations: new Array<number>(DURATION_CLASSES).fill(0) };
    rows.set(operation, row);
    return row;
  }
}

/** Returns the name that is kept: without control characters, cut to its length, or OTHER when there are too many. */
function bound(name: string, known: ReadonlyMap<string, unknown>, max: number): string {
  const cut = boundName(name);
  return known.has(cut) || known.size < max ? cut : OTHER;
}

/** Returns the class of a duration, from 0 on. */
export function toDurationClass(ms: number): number {
  const units = ms * CLASSES_PER_MS;
  return units >= 2 ** (DURATION_CLASSES - 2) ? DURATION_CLASSES - 1 : 32 - Math.clz32(units);
}
