/** A fault at a place of the client's document. */
import { type ErrorCode, Fault, type FaultOptions } from '@trestle/schema/errors';
import type { Location } from './program.ts';

export class LocatedFault extends Fault {
  /** Places in the document, each once; empty where none is known (GraphQL §7.1.2). */
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
