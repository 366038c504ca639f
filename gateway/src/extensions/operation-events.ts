/** What the hooks around an operation are called with, and how they replace it or its result. No I/O. */
import { NO_STORE } from '../request/cache-policy.ts';
import type { ExtendedRequest } from '../request/extended-request.ts';
import { freezeJson, isObject, parseJson } from '../request/json.ts';
import type { OperationRequest, OperationResult } from '../request/operation.ts';
import { readParameters } from '../request/parameters.ts';
import { ArrivedEvent } from './events.ts';
import type { OperationEvent, OperationReplacement, ResponseEvent, SubscribeEvent } from './extension.ts';

/** What of an operation can be replaced. */
export const OPERATION_MEMBERS: readonly string[] = ['query', 'operationName', 'variables'];
const MAX_BODY_BYTES = 32 * 1024 * 1024;

/** The members are the event's own, because the coprocessor gets what is in the event. */
class BegunEvent extends ArrivedEvent implements SubscribeEvent {
  query: string;
  operationName: string | undefined;
  variables: Readonly<Record<string, unknown>>;

  constructor(request: ExtendedRequest, { query, operationName, variables }: OperationRequest) {
    super(request);
    this.query = query;
    this.operationName = operationName;
    // A hook that changes them in place would evade the checks of `setOperation`.
    this.variables = freezeJson(variables);
  }
}

/** Returns the event of `onSubscribe`. */
export function toSubscribeEvent(request: ExtendedRequest, operation: OperationRequest): SubscribeEvent {
  return new BegunEvent(request, operation);
}

/** The event of `onOperation`, and the operation that its hooks leave. */
export class ReceivedEvent extends BegunEvent implements OperationEvent {
  #operation: OperationRequest;

  constructor(request: ExtendedRequest, operation: OperationRequest) {
    super(request, operation);
    this.#operation = operation;
  }

  get setOperation(): (replacement: OperationReplacement) => void {
    return (replacement) => {
      const { query, operationName, variables } = readReplacement(replacement, this.#operation);
      this.#operation = { ...this.#operation, query, operationName, variables };
      this.query = query;
      this.operationName = operationName;
      this.variables = freezeJson(variables);
    };
  }

  /** Returns the same object as was given, unless a hook has replaced something. */
  toOperation(): OperationRequest {
    return this.#operation;
  }
}

type Members = Pick<OperationRequest, 'query' | 'operationName' | 'variables'>;

/** Extensions in JavaScript have no checked types, and those of a coprocessor come as JSON. Throws a TypeError. */
function readReplacement(replacement: unknown, operation: OperationRequest): Members {
  if (!isObject(replacement)) throw new TypeError('The replacement of an operation must be an object');
  for (const name of Object.keys(replacement))
    if (!OPERATION_MEMBERS.includes(name)) throw new TypeError(`An operation has no member ${JSON.stringify(name.slice(0, 64))}`);
  const { query = operation.query, operationName = operation.operationName, variables } = replacement;
  if (variables !== undefined && operation.context.upload) throw new TypeError('The variables of a request with files cannot be replaced');
  try {
    // A copy: what the extension changes later has no effect.
    const copy = variables === undefined ? undefined : parseJson(JSON.stringify(variables));
    const read = readParameters({ query, operationName, variables: copy });
    if (read.query === undefined) throw new TypeError('it is null');
    return {
      query: read.query,
      operationName: read.operationName,
      variables: variables === undefined ? operation.variables : read.variables,
    };
  } catch (error) {
    throw new TypeError('The replacement of an operation is not valid', { cause: error });
  }
}

/** The event of `onResponse`, and the result that its hooks leave. */
export class WrittenEvent extends ArrivedEvent implements ResponseEvent {
  readonly operationKind: OperationResult['operationKind'];
  readonly operationName: string | undefined;
  readonly outcome: OperationResult['outcome'];
  #result: OperationResult;
  #hasEnded = false;

  constructor(request: ExtendedRequest, result: OperationResult) {
    super(request);
    this.operationKind = result.operationKind;
    this.operationName = result.operationName;
    this.outcome = result.outcome;
    this.#result = result;
  }

  get readBody(): () => string {
    return () => {
      // Another request may have the bytes then.
      if (this.#hasEnded) throw new TypeError('The result has been sent');
      const { bytes, length } = this.#result;
      return bytes.toString('utf8', 0, length);
    };
  }

  get setBody(): (json: string) => void {
    return (json) => {
      const replaced = this.#result;
      // The bytes belong to the transport then.
      if (this.#hasEnded) throw new TypeError('The result has been sent');
      if (replaced.rest) throw new TypeError('The first of several incremental responses cannot be replaced');
      const bytes = toBody(json);
      this.#result = { ...replaced, bytes, length: bytes.length, release: undefined, caching: NO_STORE };
      replaced.release?.();
    };
  }

  /** Returns the same object as was given, unless a hook has replaced the body. Ends what the hooks may do. */
  toResult(): OperationResult {
    this.#hasEnded = true;
    return this.#result;
  }
}

function toBody(json: unknown): Buffer {
  if (typeof json !== 'string' || Buffer.byteLength(json) > MAX_BODY_BYTES)
    throw new TypeError(`The body of a result must be a string of at most ${String(MAX_BODY_BYTES)} bytes`);
  const body = JSON.parse(json) as unknown;
  if (!isObject(body)) throw new TypeError('The body of a result must be the JSON text of an object');
  // A server-sent event ends at a line end. In JSON these stand between tokens only.
  return Buffer.from(json.replace(/[\r\n]/g, ' '));
}
