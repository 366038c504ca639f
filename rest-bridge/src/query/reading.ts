/** What reading a request is: from its path, query and body to variables. */
import type { FieldFault } from '@trestle/schema/errors';
import type { GraphQLSchema } from 'graphql';
import type { Paging } from './paging.ts';
import type { Parameters } from './parameters.ts';

/** The public schema, from which names and types of parameters and bodies are taken, and the version that is read. */
export interface ReaderContext {
  readonly schema: GraphQLSchema;
  readonly version: number;
}

export interface RowRequest {
  readonly params: Readonly<Record<string, string>>;
  readonly query: Parameters;
  /** The parsed JSON body; undefined for a row that takes none. */
  readonly body: unknown;
}

/** What a request asks for, once it is understood. */
export interface Reading {
  readonly variables: Readonly<Record<string, unknown>>;
  readonly paging?: Paging;
}

/** Reads a request into variables; adds what is wrong to `faults` instead of throwing, so that all faults are told at once. */
export type Reader = (request: RowRequest, faults: FieldFault[]) => Reading;
