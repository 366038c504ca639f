/** What reports of usage are sent to: the parts that differ between the registry, Hive and GraphOS. Types only. */
import type { RequestUsage } from '../request/operation-usage.ts';
import type { UsedRequest } from './open-request.ts';

/** One report, as it is sent but for its compression. It is sent again until the destination has it. */
export interface UsageReport {
  readonly id: string;
  readonly body: Buffer;
  /** How many requests it counts. */
  readonly requests: number;
  /** The hashes of the operations whose texts it has, where later reports may leave these out. */
  readonly texts: readonly string[];
}

/** `taken`: the destination has it, and has no text of `missing`. `refused`: it will never take it. */
export type SendResult = { readonly kind: 'taken'; readonly missing: readonly string[] } | { readonly kind: 'refused' };

/** Sends one report. Rejects with a SourceError when the destination cannot take it now. */
export type SendReport = (report: UsageReport, signal: AbortSignal) => Promise<SendResult>;

export interface WriteOptions {
  /** When the interval began. */
  readonly startedAt: number;
  /** Whether the destination has the text of an operation. */
  readonly isKnown: (hash: string) => boolean;
  readonly createId: () => string;
}

/** The requests of one interval, bounded in bytes. */
export interface UsageRecords {
  /** About how much memory they take. */
  readonly bytes: number;
  /** Begins the record of a request. */
  begin(request: UsedRequest): RequestUsage;
  /** Ends the interval. Returns a generator of its reports, each of bounded size, so that the caller can pause between them. */
  take(options: WriteOptions): Iterable<UsageReport>;
}

export interface RecordsOptions {
  readonly maxBytes: number;
  /** Called for each request that is not recorded, because more would take more than `maxBytes`. */
  readonly onDrop: () => void;
  /** Called when the records are enough for one report, before the interval ends. */
  readonly onFull: () => void;
}

/** Where usage is reported. */
export interface UsageDestination {
  /** What messages call it. */
  readonly name: string;
  /** What its token must allow. */
  readonly permission: string;
  readonly createRecords: (options: RecordsOptions) => UsageRecords;
  readonly send: SendReport;
}
