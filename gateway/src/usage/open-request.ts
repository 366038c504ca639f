/** The record of one request that has not ended. */
import type { OperationUsage, RequestUsage, UsageEnd, UsageError } from '../request/operation-usage.ts';
import type { ClientApplication } from '../request/operation.ts';
import type { Parameters } from '../request/parameters.ts';

/** What usage is recorded of, beside the operation. */
export interface UsedRequest {
  readonly client: ClientApplication;
  readonly parameters: Pick<Parameters, 'query' | 'extensions'> & Partial<Pick<Parameters, 'documentId'>>;
}

/** How a request ended. */
export interface RequestEnd extends UsageEnd {
  readonly ms: number;
  readonly errors: readonly UsageError[];
  /** How the request named its document as an automatic persisted query: `hit` by the hash alone, `registered` beside its text. */
  readonly persisted: 'hit' | 'registered' | undefined;
  /** The id by which the request named its document. */
  readonly documentId?: string | undefined;
}

/** Takes requests that have ended. */
export interface RequestSink {
  add(operation: OperationUsage, client: ClientApplication, end: RequestEnd): void;
}

const NO_ERRORS: readonly UsageError[] = [];

/** Gives its request to a sink once, when it ends; never without an operation. */
export class OpenRequest implements RequestUsage {
  operation: OperationUsage | undefined = undefined;
  errors = NO_ERRORS;
  readonly #sink: RequestSink;
  readonly #request: UsedRequest;
  readonly #startedAt = performance.now();
  #isEnded = false;

  constructor(sink: RequestSink, request: UsedRequest) {
    this.#sink = sink;
    this.#request = request;
  }

  end({ isError, isCached }: UsageEnd): void {
    if (this.#isEnded || !this.operation) return;
    this.#isEnded = true;
    const { client, parameters } = this.#request;
    const { errors } = this;
    const ms = performance.now() - this.#startedAt;
    const { documentId } = parameters;
    this.#sink.add(this.operation, client, { ms, isError, isCached, errors, persisted: findPersisted(parameters), documentId });
  }
}

/** The extension is valid, because the document was found. */
function findPersisted({ query, extensions }: Pick<Parameters, 'query' | 'extensions'>): RequestEnd['persisted'] {
  const extension = extensions['persistedQuery'];
  if (extension === undefined || extension === null) return undefined;
  return query === undefined ? 'hit' : 'registered';
}
