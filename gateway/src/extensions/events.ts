/** What hooks are called with: facts of the stage, and what the hook may change. No I/O. */
import { type ErrorCode, fail, isErrorCode } from '@trestle/schema/errors';
import { mayInsert, mayReturn } from '../headers/header-names.ts';
import { isHeaderValue } from '../headers/header-values.ts';
import type { FetchStep, PlanStep, Program } from '../program/program.ts';
import type { SubgraphFailure } from '../program/result.ts';
import type { ExtendedRequest } from '../request/extended-request.ts';
import type { OperationRequest, OperationResult } from '../request/operation.ts';
import type {
  ContextEvent,
  OperationEvent,
  PlanEvent,
  RequestEvent,
  ResponseEvent,
  SubgraphRequestEvent,
  SubgraphResponseEvent,
} from './extension.ts';

const MAX_MESSAGE_CHARACTERS = 1000;
/** The most headers that extensions add to one request, or to one fetch. */
const MAX_HEADERS = 50;

/** Throws the fault of a refusal; a TypeError for a code that does not exist. */
function refuse(code: string, message: string): never {
  if (!isErrorCode(code)) throw new TypeError(`${code} is no error code`);
  throw fail(code satisfies ErrorCode, message.slice(0, MAX_MESSAGE_CHARACTERS));
}

/** The gateway decides `Cache-Control` by what it knows of the result. */
function maySetResponseHeader(name: string): boolean {
  return mayReturn(name) && name.toLowerCase() !== 'cache-control';
}

export function toRequestEvent(request: ExtendedRequest): RequestEvent {
  return {
    request,
    refuse,
    setResponseHeader: (name, value) => {
      checkHeader(name, value, maySetResponseHeader);
      request.setResponseHeader(name.toLowerCase(), value);
    },
  };
}

/** `added` gets the headers of fetches, names and values in turn. */
export function toContextEvent(request: ExtendedRequest, added: string[]): ContextEvent {
  return { ...toRequestEvent(request), setSubgraphHeader: createSetHeader(added) };
}

export function toOperationEvent(request: ExtendedRequest, { query, operationName, variables }: OperationRequest): OperationEvent {
  return { ...toRequestEvent(request), query, operationName, variables };
}

/** `cost` is the estimated cost. */
export function toPlanEvent(request: ExtendedRequest, { kind, name, source, plan }: Program, cost: number): PlanEvent {
  return {
    ...toRequestEvent(request),
    operationKind: kind,
    operationName: name,
    cost,
    listFetches: () =>
      [...(source ? [source] : []), ...findFetches(plan)].map(({ service, operation }) => ({ subgraph: service, query: operation })),
  };
}

function findFetches(step: PlanStep | undefined): FetchStep[] {
  if (!step) return [];
  if (step.kind === 'fetch') return [step];
  return (step.kind === 'condition' ? [step.then, step.otherwise] : step.steps).flatMap(findFetches);
}

export interface ExtendedFetch {
  readonly service: string;
  readonly isMutation: boolean;
  readonly body: string;
  readonly context: { readonly extended?: ExtendedRequest | undefined };
}

/** `added` gets the headers of the fetch, names and values in turn. */
export function toSubgraphRequestEvent(fetch: ExtendedFetch, url: URL, added: string[]): SubgraphRequestEvent {
  const { service: subgraph, isMutation, body, context } = fetch;
  return { request: context.extended, refuse, subgraph, url: url.href, isMutation, body, setHeader: createSetHeader(added) };
}

export interface ReceivedResponse {
  readonly status: number;
  header(name: string): string | undefined;
}

export function toSubgraphResponseEvent(
  { service, context }: ExtendedFetch,
  startedAt: number,
  ending: ReceivedResponse | SubgraphFailure,
): SubgraphResponseEvent {
  const response = 'status' in ending ? ending : undefined;
  return {
    request: context.extended,
    subgraph: service,
    durationMs: performance.now() - startedAt,
    status: response?.status,
    failure: 'code' in ending ? ending.code : undefined,
    header: (name) => response?.header(name.toLowerCase()),
  };
}

export function toResponseEvent(request: ExtendedRequest, result: OperationResult): ResponseEvent {
  const { operationKind, operationName, outcome, bytes, length } = result;
  const readBody = () => bytes.toString('utf8', 0, length);
  return { ...toRequestEvent(request), operationKind, operationName, outcome, readBody };
}

function createSetHeader(added: string[]): (name: string, value: string) => void {
  return (name, value) => {
    checkHeader(name, value, mayInsert);
    if (added.length >= 2 * MAX_HEADERS) throw new TypeError(`More than ${String(MAX_HEADERS)} headers`);
    added.push(name.toLowerCase(), value);
  };
}

/** Types of extensions in JavaScript are not checked before. */
function checkHeader(name: unknown, value: unknown, isAllowed: (name: string) => boolean): void {
  if (typeof name !== 'string' || !isAllowed(name)) throw new TypeError('A header that extensions may not set');
  if (typeof value !== 'string' || !isHeaderValue(value))
    throw new TypeError(`The value of ${name} must have 1 to 8192 visible ASCII characters`);
}
