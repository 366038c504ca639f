/** What a request leaves behind on its way through the subgraphs, for the door to tell in headers. */
import { type Caller, hasRole } from '@trestle/identity';

export interface Trail {
  /** How long each subgraph took, one entry for each fetch. */
  readonly durationsMs: (readonly [subgraph: string, milliseconds: number])[];
  /** Whether a subgraph answered with what it had kept from an earlier request (spec §8). */
  isReplayed: boolean;
  /** Whether the client has gone. */
  isAborted: boolean;
  /** Fetches on their way that are of no use once the client has gone. */
  readonly flights: { abort(reason: Error): void }[];
}

export function createTrail(): Trail {
  return { durationsMs: [], isReplayed: false, isAborted: false, flights: [] };
}

/** Ends every fetch that only this client was waiting for. */
export function abort(trail: Trail): void {
  trail.isAborted = true;
  // Those that have ended are left alone by this.
  for (const flight of trail.flights.splice(0)) flight.abort(new Error('The client has gone'));
}

const NOTHING: Readonly<Record<string, string>> = {};

/** `Idempotent-Replayed` for everybody, `Server-Timing` for administrators: how long what is inside takes is nobody else's business. */
export function toTrailHeaders(
  { durationsMs, isReplayed }: Pick<Trail, 'durationsMs' | 'isReplayed'>,
  caller: Caller | null,
): Record<string, string> {
  const timings = hasRole(caller, 'ADMIN') ? Array.from(sum(durationsMs), ([name, duration]) => `${name};dur=${duration.toFixed(1)}`) : [];
  if (!isReplayed && timings.length === 0) return NOTHING;
  return {
    ...(isReplayed && { 'idempotent-replayed': 'true' }),
    ...(timings.length > 0 && { 'server-timing': timings.join(', ') }),
  };
}

function sum(durationsMs: Trail['durationsMs']): Map<string, number> {
  const sums = new Map<string, number>();
  for (const [name, duration] of durationsMs) sums.set(name, (sums.get(name) ?? 0) + duration);
  return sums;
}
