/** Writes the rows of an interval as reports for the registry (docs/registry.md, "Usage"). No I/O. */
import type { OperationUsage } from '../../request/operation-usage.ts';
import type { UsageReport, WriteOptions } from '../usage-destination.ts';
import type { UsageRow } from '../usage-log.ts';
import type { RequestCounts } from './request-counts.ts';

/** The bounds of one report. The registry takes four times as much. */
const MAX_ROWS = 500;
const MAX_TEXT_BYTES = 1024 * 1024;

/** Yields the reports, each of bounded size, so that the caller can pause between them. */
export function* writeReports(
  rows: readonly UsageRow<RequestCounts>[],
  { startedAt, isKnown, createId }: WriteOptions,
): Generator<UsageReport> {
  const minute = new Date(Math.floor(startedAt / 60_000) * 60_000).toISOString();
  const written = new Set<string>();
  let at = 0;
  while (at < rows.length) {
    const part = new ReportPart((hash) => !isKnown(hash) && !written.has(hash));
    while (at < rows.length && !part.isFull) part.add(rows[at++] as UsageRow<RequestCounts>);
    const { texts, requests } = part;
    for (const hash of texts) written.add(hash);
    const id = createId();
    const body = Buffer.from(JSON.stringify({ id, minute, ...part.toJSON() }));
    yield { id, body, requests, texts };
  }
}

/** The rows of one report. */
class ReportPart {
  readonly #needsText: (hash: string) => boolean;
  /** By hash: several prepared operations may have the same text. */
  readonly #operations = new Map<string, { readonly index: number; readonly entry: object }>();
  readonly #clients = new Map<string, { readonly index: number; readonly entry: object }>();
  readonly #rows = new Map<string, { operation: number; client: number; count: number; errors: number; durations: number[] }>();
  readonly texts: string[] = [];
  #textBytes = 0;
  requests = 0;

  constructor(needsText: (hash: string) => boolean) {
    this.#needsText = needsText;
  }

  get isFull(): boolean {
    return this.#rows.size >= MAX_ROWS || this.#textBytes >= MAX_TEXT_BYTES;
  }

  add({ operation, client, version, counts: { count, errors, durations } }: UsageRow<RequestCounts>): void {
    const operationIndex = this.#indexOperation(operation);
    const clientKey = `${client ?? ''}\n${version ?? ''}`;
    const known = this.#clients.get(clientKey) ?? { index: this.#clients.size, entry: { name: client, version } };
    this.#clients.set(clientKey, known);
    const key = `${String(operationIndex)} ${String(known.index)}`;
    const row = this.#rows.get(key);
    this.requests += count;
    if (row) {
      row.count += count;
      row.errors += errors;
      for (const [i, each] of durations.entries()) row.durations[i] = (row.durations[i] ?? 0) + each;
    } else this.#rows.set(key, { operation: operationIndex, client: known.index, count, errors, durations: [...durations] });
  }

  toJSON() {
    const entries = (map: ReadonlyMap<string, { readonly entry: object }>) => [...map.values()].map(({ entry }) => entry);
    return { operations: entries(this.#operations), clients: entries(this.#clients), rows: [...this.#rows.values()] };
  }

  #indexOperation({ hash, name, text, uses }: OperationUsage): number {
    const known = this.#operations.get(hash);
    if (known) return known.index;
    const isNew = text !== '' && this.#needsText(hash);
    if (isNew) {
      this.texts.push(hash);
      this.#textBytes += uses.reduce((sum, use) => sum + use.length + 3, text.length);
    }
    const index = this.#operations.size;
    this.#operations.set(hash, { index, entry: { hash, name: name ?? null, ...(isNew && { text, uses }) } });
    return index;
  }
}
