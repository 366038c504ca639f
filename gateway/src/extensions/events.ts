/** What hooks are called with: facts of the stage, and what the hook may change. No I/O. */
import { type ErrorCode, fail, isErrorCode } from '@trestle/schema/errors';
import { mayInsert, mayReturn } from '../headers/header-names.ts';
import { isHeaderValue } from '../headers/header-values.ts';
import { listFetches } from '../program/list-fetches.ts';
import type { Program } from '../program/program.ts';
import type { SubgraphFailure } from '../program/result.ts';
import type { ExtendedRequest } from '../request/extended-request.ts';
import type { ContextEvent, PlanEvent, RequestEvent, SubgraphRequestEvent, SubgraphResponseEvent } from './extension.ts';

const MAX_MESSAGE_CHARACTERS = 1000;
/** The most headers that extensions add to one request, or to one fetch. */
const MAX_HEADERS = 50;

/** Returns the fault of a refusal; a TypeError for a code that does not exist. */
function toRefusal(code: string, message: string): Error {
  return isErrorCode(code)
    ? fail(code satisfies ErrorCode, message.slice(0, MAX_MESSAGE_CHARACTERS))
    : new TypeError(`Unknown error code "${code}". Use a code of the error table (docs/rest.md).`);
}

/** An event whose hooks may refuse. It keeps what `refuse` has thrown: a hook that catches it has refused nevertheless. */
export class GuardedEvent {
  #refusal: Error | undefined = undefined;

  get refuse(): (code: string, message: string) => never {
    return (code, message) => {
      this.#refusal ??= toRefusal(code, message);
      throw this.#refusal;
    };
  }

  /** Returns what the first call of `refuse` has thrown; undefined before it, and for other events. */
  static refusalOf(event: unknown): Error | undefined {
    return event instanceof GuardedEvent ? event.#refusal : undefined;
  }
}

/** Extensions may not set `Cache-Control`: the gateway decides it by what it knows of the result. */
function maySetResponseHeader(name: string): boolean {
  return mayReturn(name) && name.toLowerCase() !== 'cache-control';
}

/**
 * The events are objects of classes, so that V8 gives each class one shape. They create a function only when a hook reads it, because most hooks read few.
 * Every request with extensions creates several events.
 */
export class ArrivedEvent extends GuardedEvent implements RequestEvent {
  readonly request: ExtendedRequest;

  constructor(request: ExtendedRequest) {
    super();
    this.request = request;
  }

  get setResponseHeader(): SetHeader {
    const { request } = this;
    return (name, value) => {
      checkHeader(name, value, maySetResponseHeader);
      request.setResponseHeader(name.toLowerCase(), value);
    };
  }
}

export function toRequestEvent(request: ExtendedRequest): RequestEvent {
  return new ArrivedEvent(request);
}

/** What hooks add to the context of a request. */
export interface AddedContext {
  /** Of fetches, names and values in turn. */
  readonly headers: string[];
  /** Labels of `@override`. */
  labels: readonly string[];
}

class AdmittedEvent extends ArrivedEvent implements ContextEvent {
  readonly #added: AddedContext;

  constructor(request: ExtendedRequest, added: AddedContext) {
    super(request);
    this.#added = added;
  }

  get setSubgraphHeader(): SetHeader {
    return createSetHeader(this.#added.headers);
  }

  get setOverrideLabels(): ContextEvent['setOverrideLabels'] {
    const added = this.#added;
    return (labels) => {
      added.labels = readLabels(labels);
    };
  }
}

const MAX_LABELS = 50;
/** The labels that composition accepts. */
const LABEL = /^(?:[A-Za-z][\w\-:./]{0,199}|percent\(\d{1,3}(?:\.\d{1,8})?\))$/;

function readLabels(labels: unknown): readonly string[] {
  if (!Array.isArray(labels) || labels.length > MAX_LABELS || !labels.every((each) => typeof each === 'string' && LABEL.test(each)))
    throw new TypeError(`Labels of @override must be a list of at most ${String(MAX_LABELS)} labels`);
  return [...(labels as string[])];
}

/** `added` gets what the hooks add. */
export function toContextEvent(request: ExtendedRequest, added: AddedContext): ContextEvent {
  return new AdmittedEvent(request, added);
}

class PlannedEvent extends ArrivedEvent implements PlanEvent {
  readonly operationKind: Program['kind'];
  readonly operationName: string | undefined;
  readonly cost: number;
  readonly #program: Program;

  constructor(request: ExtendedRequest, program: Program, cost: number) {
    super(request);
    this.operationKind = program.kind;
    this.operationName = program.name;
    this.cost = cost;
    this.#program = program;
  }

  get listFetches(): PlanEvent['listFetches'] {
    const { source, plan } = this.#program;
    return () =>
      [...(source ? [source] : []), ...listFetches(plan)].map(({ service, operation }) => ({ subgraph: service, query: operation }));
  }
}

/** `cost` is the estimated cost. */
export function toPlanEvent(request: ExtendedRequest, program: Program, cost: number): PlanEvent {
  return new PlannedEvent(request, program, cost);
}

export interface ExtendedFetch {
  readonly service: string;
  readonly isMutation: boolean;
  readonly body: string;
  readonly context: { readonly extended?: ExtendedRequest | undefined };
}

class SentEvent extends GuardedEvent implements SubgraphRequestEvent {
  readonly request: ExtendedRequest | undefined;
  readonly subgraph: string;
  readonly url: string;
  readonly isMutation: boolean;
  readonly body: string;
  readonly #added: string[];

  constructor({ service, isMutation, body, context }: ExtendedFetch, url: URL, added: string[]) {
    super();
    this.request = context.extended;
    this.subgraph = service;
    this.url = url.href;
    this.isMutation = isMutation;
    this.body = body;
    this.#added = added;
  }

  get setHeader(): SetHeader {
    return createSetHeader(this.#added);
  }
}

/** `added` gets the headers of the fetch, names and values in turn. */
export function toSubgraphRequestEvent(fetch: ExtendedFetch, url: URL, added: string[]): SubgraphRequestEvent {
  return new SentEvent(fetch, url, added);
}

export interface ReceivedResponse {
  readonly status: number;
  header(name: string): string | undefined;
}

class AnsweredEvent implements SubgraphResponseEvent {
  readonly request: ExtendedRequest | undefined;
  readonly subgraph: string;
  readonly durationMs: number;
  readonly status: number | undefined;
  readonly failure: string | undefined;
  readonly #response: ReceivedResponse | undefined;

  constructor({ service, context }: ExtendedFetch, startedAt: number, ending: ReceivedResponse | SubgraphFailure) {
    this.request = context.extended;
    this.subgraph = service;
    this.durationMs = performance.now() - startedAt;
    this.#response = 'status' in ending ? ending : undefined;
    this.status = this.#response?.status;
    this.failure = 'code' in ending ? ending.code : undefined;
  }

  get header(): SubgraphResponseEvent['header'] {
    const response = this.#response;
    return (name) => response?.header(name.toLowerCase());
  }
}

export function toSubgraphResponseEvent(
  fetch: ExtendedFetch,
  startedAt: number,
  ending: ReceivedResponse | SubgraphFailure,
): SubgraphResponseEvent {
  return new AnsweredEvent(fetch, startedAt, ending);
}

type SetHeader = (name: string, value: string) => void;

function createSetHeader(added: string[]): SetHeader {
  return (name, value) => {
    checkHeader(name, value, mayInsert);
    if (added.length >= 2 * MAX_HEADERS) throw new TypeError(`An extension may set at most ${String(MAX_HEADERS)} headers for one request`);
    added.push(name.toLowerCase(), value);
  };
}

/** Extensions in JavaScript have no checked types, so the arguments are checked here. */
function checkHeader(name: unknown, value: unknown, isAllowed: (name: string) => boolean): void {
  if (typeof name !== 'string' || !isAllowed(name)) throw new TypeError(`Extensions may not set the header ${String(name)}`);
  if (typeof value !== 'string' || !isHeaderValue(value))
    throw new TypeError(`The value of ${name} must have 1 to 8192 visible ASCII characters`);
}
