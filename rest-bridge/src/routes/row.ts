/** A route is a row: what it matches, the operation it names, how its request is read and its answer shown (design.md). */
import type { IncomingMessage } from 'node:http';
import type { Caller } from '@trestle/identity';
import type { BodyRule } from '../query/body.ts';
import type { ListRule } from '../query/list.ts';
import type { Reader, ReaderContext, Reading } from '../query/reading.ts';
import type { Resource } from '../reply/resource.ts';

export type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';

interface RowBase {
  readonly method: Method;
  /** Below the version prefix; `{name}` stands for one segment. */
  readonly path: string;
  /** What it does, in a few words, for the documentation. */
  readonly summary: string;
  /** Whether an anonymous caller gets 401 before anything else is looked at. */
  readonly needsCaller: boolean;
  /** Whether a credential is not looked at: a client that logs in again still sends the one that has expired. */
  readonly ignoresCredential?: boolean;
  /** The clause that asks for the row. */
  readonly spec: string;
}

/** A row with one operation at the gateway behind it. */
export interface OperationRow extends RowBase {
  /** The name of an operation in `operations/`. */
  readonly operation: string;
  readonly resource: Resource;
  readonly reads: Reads;
  readonly answers: Answers;
  readonly reply: Replier;
  /** Whose version the conditions of a write are checked against: the resource at this path, or the one whose action it is. */
  readonly changes?: 'itself' | 'above';
  /** Whether the write makes the resource when it is missing. */
  readonly mayCreate?: boolean;
  /** Whether a retry may be told by `Idempotency-Key`; `needed` answers 400 without one (contract §4). Every POST takes one. */
  readonly idempotency?: 'needed' | 'without effect';
  /** Other media types for the same thing. */
  readonly alternatives?: readonly Alternative[];
}

/** A row that the bridge answers by itself. */
export interface LocalRow extends RowBase {
  /** The media types it may answer in. */
  readonly types: readonly string[];
  readonly answer: (request: LocalRequest) => Outcome;
  readonly answers: Answers;
}

export type Row = OperationRow | LocalRow;

/** What of a request is read besides the values in its path. */
export type Reads =
  /** `flags` are parameters of the query that are true or false, and what they mean; they are variables of these names. */
  | { readonly kind: 'path'; readonly flags?: Readonly<Record<string, string>> }
  | { readonly kind: 'list'; readonly rule: ListRule }
  | { readonly kind: 'body'; readonly rule: BodyRule }
  | { readonly kind: 'own'; readonly takesBody: boolean; readonly createReader: (context: ReaderContext) => Reader };

/** What stands in a successful answer. */
export type Answers =
  | { readonly status: 200 | 201; readonly shape: 'resource' | 'list' | 'parts' }
  | { readonly status: 200; readonly shape: 'login' | 'search' | 'document' }
  | { readonly status: 204; readonly shape: 'nothing' }
  | { readonly status: 307; readonly shape: 'redirect'; readonly leadsTo: Resource }
  | { readonly status: 501; readonly shape: 'announced' };

export interface Alternative {
  readonly type: string;
  /** What has to be fetched to write it. */
  readonly resource: Resource;
  readonly write: (body: Readonly<Record<string, unknown>>) => Promise<Buffer>;
}

/** Where a request came in. */
export interface Place {
  /** The version prefix as the client wrote it, e.g. `/v1`; empty for an unversioned path. */
  readonly prefix: string;
  /** The path below the prefix, and the query as sent. */
  readonly path: string;
  readonly search: URLSearchParams;
  readonly params: Readonly<Record<string, string>>;
  readonly version: number;
}

export interface LocalRequest extends Place {
  readonly caller: Caller | null;
  readonly request: IncomingMessage;
}

export interface ReplyRequest extends Place {
  readonly reading: Reading;
}

/** The answer before HTTP's own concerns. */
export interface Outcome {
  readonly status: number;
  /** Shown as JSON; undefined for an answer without a body. */
  readonly body?: object | undefined;
  /** Bytes of another type, in place of `body`. */
  readonly document?: { readonly type: string; readonly bytes: Buffer };
  readonly headers?: Readonly<Record<string, string>>;
  /** The resource's version, carried by its ETag. */
  readonly version?: number | undefined;
  /** When the resource last changed, for `Last-Modified`; absent where other resources show through. */
  readonly changedAt?: string | undefined;
}

/** `answer` is what the operation gave at its root; `show` turns a resource's data into its representation. */
export type Replier = (answer: unknown, show: (data: unknown) => Shown, request: ReplyRequest) => Outcome;

export interface Shown {
  readonly body: Record<string, unknown>;
  readonly version: number | undefined;
  readonly changedAt: string | undefined;
}
