/** The representation of a resource, before it becomes a response. No I/O. */
import type { RequestTarget } from '../http/request-target.ts';
import type { Paging } from '../query/paging.ts';

/** A resource as clients see it. */
export interface Representation {
  readonly body: Record<string, unknown>;
  /** The version of the resource; undefined for a type without versions. */
  readonly version: number | undefined;
  /** When the resource last changed; undefined when the body also shows other resources. */
  readonly changedAt: string | undefined;
}

/** Returns the representation of a resource's GraphQL data. */
export type Represent = (data: unknown) => Representation;

/** The request as response builders need it. */
export interface RepresentationContext extends RequestTarget {
  /** The paging of a list; undefined for routes without one. */
  readonly paging: Paging | undefined;
}
