/** What a request leaves behind on its way through the subgraphs, for the door to tell in headers. */
import { type Caller, hasRole } from '@trestle/identity';

export interface Trail {
  /** How long each subgraph took in all, by its name. */
  readonly durationsMs: Map<string, number>;
  /** Whether a subgraph answered with what it had kept from an earlier request (spec §8). */
  isReplayed: boolean;
  /** Whether the client has gone. */
  isAborted: boolean;
  /** Fetches on their way that are of no use once the client has gone. */
  readonly flights: Set<{ abort(reason: Error): void }>;
}

export function createTrail(): Trail {
  return { durationsMs: new Map(), isReplayed: false, isAborted: false, flights: new Set() };
}

/** Ends every fetch that only this client was waiting for. */
export function abort(trail: Trail): void {
  trail.isAborted = true;
  for (const flight of trail.flights) flight.abort(new Error('The client has gone'));
  trail.flights.clear();
}

/** `Idempotent-Replayed` for everybody, `Server-Timing` for administrators: how long what is inside takes is nobody else's business. */
export function toTrailHeaders(
  { durationsMs, isReplayed }: Pick<Trail, 'durationsMs' | 'isReplayed'>,
  caller: Caller | null,
): Record<string, string> {
  const timings = hasRole(caller, 'ADMIN') ? Array.from(durationsMs, ([name, duration]) => `${name};dur=${duration.toFixed(1)}`) : [];
  return {
    ...(isReplayed && { 'idempotent-replayed': 'true' }),
    ...(timings.length > 0 && { 'server-timing': timings.join(', ') }),
  };
}
