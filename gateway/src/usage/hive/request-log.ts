/** Keeps the requests of one interval, each for itself, because Hive takes no counts. No I/O. */
import type { OperationUsage, RequestUsage } from '../../request/operation-usage.ts';
import type { ClientApplication } from '../../request/operation.ts';
import { boundName } from '../client-names.ts';
import { OpenRequest, type RequestEnd, type RequestSink, type UsedRequest } from '../open-request.ts';
import { sizeOfOperation } from '../operation-size.ts';
import type { RecordsOptions } from '../usage-destination.ts';

/** One request. */
export interface HiveRequest {
  readonly operation: OperationUsage;
  readonly client: string | undefined;
  readonly version: string | undefined;
  /** When it ended, in ms since 1970. */
  readonly at: number;
  readonly ms: number;
  readonly isError: boolean;
  /** The id of a document of an app deployment, by which it was sent. */
  readonly documentId: string | undefined;
}

/** The ids that a report may have. Hive refuses a whole report for another one. */
const DOCUMENT_ID = /^[\w-]{1,64}~[\w.-]{1,64}~\w{1,128}$/;

/** What a request takes in memory, beside its names. */
const REQUEST_BYTES = 120;
/** The most requests of one report. */
export const MAX_REQUESTS = 1000;

export interface RequestLogOptions extends RecordsOptions {
  /** The share of requests that is kept, 0 to 1. */
  readonly sampleRate: number;
}

export class RequestLog implements RequestSink {
  readonly #options: RequestLogOptions;
  #requests: HiveRequest[] = [];
  #operations = new Set<OperationUsage>();
  #bytes = 0;

  constructor(options: RequestLogOptions) {
    this.#options = options;
  }

  /** About how much memory it takes. */
  get bytes(): number {
    return this.#bytes;
  }

  /** Begins the record of a request. */
  begin(request: UsedRequest): RequestUsage {
    return new OpenRequest(this, request);
  }

  add(operation: OperationUsage, { name, version }: ClientApplication, { ms, isError, documentId }: RequestEnd): void {
    const { sampleRate, maxBytes, onDrop, onFull } = this.#options;
    if (sampleRate < 1 && Math.random() >= sampleRate) return;
    if (this.#bytes >= maxBytes) {
      onDrop();
      return;
    }
    const request = {
      ...{ operation, at: Date.now(), ms, isError, client: name && boundName(name), version: version && boundName(version) },
      documentId: documentId !== undefined && DOCUMENT_ID.test(documentId) ? documentId : undefined,
    };
    this.#requests.push(request);
    const names = [request.client, request.version, request.documentId];
    this.#bytes += names.reduce((sum, each) => sum + (each?.length ?? 0), REQUEST_BYTES);
    if (!this.#operations.has(operation)) {
      this.#operations.add(operation);
      this.#bytes += sizeOfOperation(operation);
    }
    if (this.#requests.length === MAX_REQUESTS) onFull();
  }

  /** Returns the requests so far, and begins anew. */
  take(): HiveRequest[] {
    const requests = this.#requests;
    this.#requests = [];
    this.#operations = new Set();
    this.#bytes = 0;
    return requests;
  }
}
