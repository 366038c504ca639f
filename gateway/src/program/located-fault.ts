/** A fault at a position of the client's document (GraphQL §7.1.2). */
import { type ErrorCode, Fault, type FaultOptions } from '@trestle/schema/errors';
import type { Location } from './program.ts';

export class LocatedFault extends Fault {
  /** Each position once; empty when none is known. */
  readonly locations: readonly Location[];

  constructor(
    code: ErrorCode,
    message: string,
    { locations, ...options }: FaultOptions & { readonly locations: readonly (Location | undefined)[] },
  ) {
    super(code, message, options);
    this.locations = [...new Set(locations)].filter((each) => each !== undefined);
  }
}
