/** Writes the rows of an interval as usage reports of GraphOS (`Report` of @apollo/usage-reporting-protobuf): statistics without traces. No I/O. */
import { type IReferencedFieldsForType, type IReportHeader, type ITracesAndStats, Report } from '@apollo/usage-reporting-protobuf';
import type { OperationUsage } from '../../request/operation-usage.ts';
import type { UsageReport, WriteOptions } from '../usage-destination.ts';
import type { UsageRow } from '../usage-log.ts';
import type { RequestStats } from './request-stats.ts';

/** The bounds of one report. An operation has at most 5 MiB (plan/describe/describe-usage.ts). */
const MAX_ROWS = 500;
const MAX_BYTES = 1024 * 1024;
const MS_PER_SECOND = 1000;
const NS_PER_MS = 1_000_000;

type StatsRow = UsageRow<RequestStats>;

/** Yields the reports, each of bounded size and about one schema. `header` says who reports. */
export function* writeGraphosReports(
  rows: readonly StatsRow[],
  header: IReportHeader,
  { createId }: Pick<WriteOptions, 'createId'>,
): Generator<UsageReport> {
  const endedAt = Date.now();
  for (const [executableSchemaId, ofSchema] of groupBySchema(rows)) {
    let at = 0;
    while (at < ofSchema.length) {
      const part = new ReportPart();
      while (at < ofSchema.length && !part.isFull) part.add(ofSchema[at++] as StatsRow);
      const { requests } = part;
      const bytes = Report.encode({
        header: { ...header, executableSchemaId },
        tracesPerQuery: part.toMap(),
        endTime: { seconds: Math.floor(endedAt / MS_PER_SECOND), nanos: (endedAt % MS_PER_SECOND) * NS_PER_MS },
        operationCount: requests,
      }).finish();
      yield { id: createId(), body: Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length), requests, texts: [] };
    }
  }
}

function groupBySchema(rows: readonly StatsRow[]): ReadonlyMap<string, readonly StatsRow[]> {
  const groups = new Map<string, StatsRow[]>();
  for (const row of rows) {
    const id = row.operation.schema?.id ?? '';
    const group = groups.get(id);
    if (group) group.push(row);
    else groups.set(id, [row]);
  }
  return groups;
}

/** The statistics of one operation. */
interface OperationPart {
  readonly operation: OperationUsage;
  /** By the name and the version of the client. */
  readonly clients: Map<string, StatsRow>;
}

/** The rows of one report. */
class ReportPart {
  /** By the key that GraphOS knows an operation by: several prepared operations may have the same. */
  readonly #operations = new Map<string, OperationPart>();
  #rows = 0;
  #bytes = 0;
  requests = 0;

  get isFull(): boolean {
    return this.#rows >= MAX_ROWS || this.#bytes >= MAX_BYTES;
  }

  add(row: StatsRow): void {
    const { operation, client, version, counts } = row;
    const key = `# ${operation.name ?? '-'}\n${operation.text}`;
    let part = this.#operations.get(key);
    if (!part) {
      part = { operation, clients: new Map() };
      this.#operations.set(key, part);
      this.#bytes += operation.uses.reduce((sum, use) => sum + use.length, key.length);
    }
    const clientKey = `${client ?? ''}\n${version ?? ''}`;
    const known = part.clients.get(clientKey);
    if (known) known.counts.merge(counts);
    else part.clients.set(clientKey, row);
    this.#rows++;
    this.#bytes += counts.bytes;
    this.requests += counts.requests;
  }

  /** Returns the statistics by the key of the operation. */
  toMap(): Record<string, ITracesAndStats> {
    return Object.fromEntries([...this.#operations].map(([key, part]) => [key, toTracesAndStats(part)]));
  }
}

function toTracesAndStats({ operation, clients }: OperationPart): ITracesAndStats {
  return {
    statsWithContext: [...clients.values()].map(({ client, version, counts }) => ({
      context: { clientName: client ?? '', clientVersion: version ?? '' },
      queryLatencyStats: counts.toStats(),
    })),
    referencedFieldsByType: toReferencedFields(operation),
  };
}

function toReferencedFields({ uses, schema }: OperationUsage): Record<string, IReferencedFieldsForType> {
  const fields = new Map<string, string[]>();
  for (const use of uses) {
    const end = use.indexOf('.');
    const [type, field] = [use.slice(0, end), use.slice(end + 1)];
    const known = fields.get(type);
    if (known) known.push(field);
    else fields.set(type, [field]);
  }
  const isInterface = (type: string) => schema?.interfaces.includes(type) === true;
  return Object.fromEntries([...fields].map(([type, fieldNames]) => [type, { fieldNames, isInterface: isInterface(type) }]));
}
