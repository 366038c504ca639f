/** A route is a row: what it matches, the operation it names, how its request is read and its answer shown (design.md). */
import type { FieldFault } from '@trestle/schema/errors';
import type { GraphQLSchema } from 'graphql';
import type { Paging } from '../query/paging.ts';
import type { Parameters } from '../query/parameters.ts';
import type { Resource } from '../reply/resource.ts';

export type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';

export interface Row {
  readonly method: Method;
  /** Below the version prefix; `{name}` stands for one segment. */
  readonly path: string;
  /** The name of an operation in `operations/`. */
  readonly operation: string;
  readonly resource: Resource;
  /** Whether an anonymous caller gets 401 before anything else is looked at. */
  readonly needsCaller: boolean;
  readonly takesBody: boolean;
  /** Called once at start with the public schema, from which names and types of parameters and bodies are taken. */
  readonly createReader: (schema: GraphQLSchema) => Reader;
  readonly reply: Replier;
  /** The clause that asks for the row. */
  readonly spec: string;
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

export interface ReplyRequest {
  /** The version prefix as the client wrote it, e.g. `/v1`; empty for an unversioned path. */
  readonly prefix: string;
  /** The path below the prefix, and the query as sent. */
  readonly path: string;
  readonly search: URLSearchParams;
  readonly params: Readonly<Record<string, string>>;
  readonly reading: Reading;
}

/** The answer before HTTP's own concerns: `body` is undefined for an answer without one. */
export interface Outcome {
  readonly status: number;
  readonly body?: object;
  readonly headers?: Readonly<Record<string, string>>;
  /** The resource's version, carried by its ETag. */
  readonly version?: number | undefined;
}

/** `answer` is what the operation gave at its root; `show` turns a resource's data into its representation. */
export type Replier = (answer: unknown, show: (data: unknown) => Shown, request: ReplyRequest) => Outcome;

export interface Shown {
  readonly body: Record<string, unknown>;
  readonly version: number | undefined;
}
