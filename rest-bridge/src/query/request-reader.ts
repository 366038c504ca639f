/** The vocabulary of reading a request: from path, query and body to GraphQL variables. */
import type { FieldFault } from '@trestle/schema/errors';
import type { GraphQLSchema } from 'graphql';
import type { BodyNames } from '../versions/money-input.ts';
import type { Paging } from './paging.ts';
import type { Parameters } from './parameters.ts';

/** The public schema, which gives names and types of parameters and bodies, and the API version of the request. */
export interface ReaderContext {
  readonly schema: GraphQLSchema;
  readonly version: number;
}

/** The parts of a request that a reader interprets. */
export interface ReaderInput {
  /** The values of the `{…}` segments of the path. */
  readonly params: Readonly<Record<string, string>>;
  readonly query: Parameters;
  /** The parsed JSON body; undefined for a route without one. */
  readonly body: unknown;
}

/** A request as GraphQL variables. */
export interface ReaderResult {
  readonly variables: Readonly<Record<string, unknown>>;
  readonly paging?: Paging;
  /** The names that fields of the input have in the body, where they differ. Default: none differs. */
  readonly bodyNames?: BodyNames | undefined;
}

/** Turns a request into variables. Adds what is wrong to `faults` instead of throwing, so that one response lists all faults. */
export type RequestReader = (input: ReaderInput, faults: FieldFault[]) => ReaderResult;
