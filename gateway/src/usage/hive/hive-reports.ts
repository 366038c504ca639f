/** Writes requests as usage reports of GraphQL Hive, version 2 of its format. No I/O. */
import type { OperationUsage } from '../../request/operation-usage.ts';
import type { UsageReport } from '../usage-destination.ts';
import { type HiveRequest, MAX_REQUESTS } from './request-log.ts';

/** Hive takes 15 MB. An operation has at most 5 MiB (plan/describe-usage.ts). */
const MAX_TEXT_BYTES = 1024 * 1024;
const NS_PER_MS = 1_000_000;

/** Yields the reports, each of bounded size. */
export function* writeHiveReports(requests: readonly HiveRequest[], createId: () => string): Generator<UsageReport> {
  let at = 0;
  while (at < requests.length) {
    const part = new HiveReport();
    while (at < requests.length && !part.isFull) part.add(requests[at++] as HiveRequest);
    yield { id: createId(), body: Buffer.from(JSON.stringify(part)), requests: part.size, texts: [] };
  }
}

/** The requests of one report. */
class HiveReport {
  readonly #map: Record<string, object> = {};
  readonly #operations: object[] = [];
  readonly #subscriptions: object[] = [];
  #textBytes = 0;

  get size(): number {
    return this.#operations.length + this.#subscriptions.length;
  }

  get isFull(): boolean {
    return this.size >= MAX_REQUESTS || this.#textBytes >= MAX_TEXT_BYTES;
  }

  add({ operation, at, ms, isError, ...names }: HiveRequest): void {
    this.#addText(operation);
    const head = { operationMapKey: operation.hash, timestamp: at, ...toSender(names) };
    if (operation.kind === 'subscription') this.#subscriptions.push(head);
    else {
      const duration = Math.round(ms * NS_PER_MS);
      this.#operations.push({ ...head, execution: { ok: !isError, duration, errorsTotal: isError ? 1 : 0 } });
    }
  }

  toJSON() {
    const [operations, subscriptions] = [this.#operations, this.#subscriptions];
    return {
      size: this.size,
      map: this.#map,
      ...(operations.length > 0 && { operations }),
      ...(subscriptions.length > 0 && { subscriptionOperations: subscriptions }),
    };
  }

  #addText({ hash, name, text, uses }: OperationUsage): void {
    if (this.#map[hash]) return;
    this.#map[hash] = { operation: text, operationName: name ?? 'anonymous', fields: uses };
    this.#textBytes += uses.reduce((sum, use) => sum + use.length + 3, text.length);
  }
}

/** An id names the app and its version: Hive takes these as the client. It refuses a whole report for a client that lacks its name or its version. */
function toSender({ client, version, documentId }: Pick<HiveRequest, 'client' | 'version' | 'documentId'>): object {
  if (documentId !== undefined) return { persistedDocumentHash: documentId };
  return client === undefined && version === undefined ? {} : { metadata: { client: { name: client ?? '', version: version ?? '' } } };
}
