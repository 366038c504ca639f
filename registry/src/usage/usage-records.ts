/** What the registry has recorded of clients, as its store returns it. Counts are JavaScript numbers: exact up to 2^53. */

/** Requests together. */
export interface UsageCounts {
  readonly requests: number;
  readonly errors: number;
  readonly lastSeen: Date;
}

/** An operation by its traffic. */
export interface OperationUsage extends UsageCounts {
  readonly hash: string;
  readonly name: string | null;
  /** Null until a gateway has sent it. */
  readonly text: string | null;
  readonly firstSeen: Date;
  /** Requests by duration: below 0.25 ms, and then up to twice as much each. */
  readonly durations: readonly number[];
}

/** A version of a client by its traffic. Its name and version are null when it did not name them. */
export interface ClientUsage extends UsageCounts {
  readonly id: string;
  readonly name: string | null;
  readonly version: string | null;
}

/** A coordinate by the traffic of the operations that use it. */
export interface FieldUsage {
  readonly coordinate: string;
  readonly requests: number;
  readonly operations: number;
  readonly lastSeen: Date;
}

/** The requests of one operation in an hour. */
export interface UsageHour {
  readonly hour: Date;
  readonly requests: number;
  readonly errors: number;
}

/** What an environment has in a window of days. */
export interface UsageTotal {
  readonly requests: number;
  readonly errors: number;
  /** The first day of which something is kept, at any time; null when nothing is. */
  readonly since: Date | null;
  /** How many days of the window have requests. */
  readonly recordedDays: number;
}
