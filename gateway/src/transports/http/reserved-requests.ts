/**
 * The HTTP requests of graphql-sse's "Single connection mode": `PUT` reserves an event stream, `GET` opens it, `POST` and `GET` add operations, `DELETE`
 * ends one. A token, in a header or in the URL, identifies the stream.
 */
import type { IncomingMessage } from 'node:http';
import { fail } from '@trestle/schema/errors';
import { abandonSlot } from '@trestle/service/admission/admission-handler';
import { type Parameters, readParameters, readSearchParameters } from '../../request/parameters.ts';
import { SERVER_SENT_EVENTS } from '../sse/sse-format.ts';
import { type AdmittedRequest, runOperation } from './admitted-request.ts';
import { readBody } from './body.ts';
import { toRetryAfter } from './send.ts';
import { chooseStreamFormat } from './negotiation.ts';

const TOKEN_HEADER = 'x-graphql-event-stream-token';
const TOKEN_PARAMETER = /[?&]token=/;
const PLAIN_TEXT = { 'content-type': 'text/plain; charset=utf-8' };
const JSON_TYPE = { 'content-type': 'application/json; charset=utf-8' };
const MAX_ID_LENGTH = 200;

/** Returns whether a request belongs to this mode. */
export function isReservedRequest(request: IncomingMessage, search: string): boolean {
  return isReservation(request) || request.headers[TOKEN_HEADER] !== undefined || TOKEN_PARAMETER.test(search);
}

/** Handles a request of this mode. Throws METHOD_NOT_ALLOWED, VALIDATION_ERROR, and what {@link ReservedStreams} throws. */
export function handleReserved(admitted: AdmittedRequest, search: string): void {
  const { exchange, context, options } = admitted;
  const { request } = exchange;
  const { reserved } = options;
  const { caller } = context;
  const url = new URLSearchParams(search);
  const token = String(request.headers[TOKEN_HEADER] ?? url.get('token') ?? '');
  const isStream = chooseStreamFormat(request.headers.accept)?.format === SERVER_SENT_EVENTS;
  if (request.method === 'PUT') exchange.sendText(201, PLAIN_TEXT, reserved.reserve(caller));
  else if (request.method === 'DELETE') {
    reserved.stopOperation(token, { id: readId(url.get('operationId')), caller });
    exchange.sendText(200, PLAIN_TEXT, '');
  } else if (isStream && request.method !== 'HEAD') reserved.open(token, exchange, caller);
  else if (request.method === 'GET') addOperation(admitted, { token, parameters: readSearchParameters(search) });
  else if (request.method === 'POST') readOperation(admitted, token);
  else throw fail('METHOD_NOT_ALLOWED', 'Use PUT, GET, POST or DELETE.');
}

function readOperation(admitted: AdmittedRequest, token: string): void {
  const { exchange, options } = admitted;
  readBody(exchange.request, options.maxBodyBytes, (error, body) => {
    exchange.guard(() => {
      if (error) throw error;
      if (Array.isArray(body)) throw fail('VALIDATION_ERROR', 'Batching is not supported in event streams. Send one operation.');
      addOperation(admitted, { token, parameters: readParameters(body as Record<string, unknown>) });
    });
  });
}

/** Runs an operation whose results go to the stream. The request itself gets 202, or the errors of an operation that was refused before it was ended. */
function addOperation(admitted: AdmittedRequest, { token, parameters }: { token: string; parameters: Parameters }): void {
  const { exchange, context, options } = admitted;
  const onAccepted = (isStopped: boolean) => {
    if (isStopped) abandonSlot(exchange.response);
    exchange.sendText(202, PLAIN_TEXT, '');
  };
  const id = readId(parameters.extensions['operationId']);
  const { query, variables } = parameters;
  const bytes = JSON.stringify({ query, variables }).length;
  const operation = options.reserved.addOperation(token, { id, bytes, context, onAccepted });
  try {
    runOperation(admitted, { parameters, subscriber: operation }, (result) => {
      exchange.guard(() => {
        if (result.outcome === 'refused' && !operation.isEnded) {
          operation.stop('refused');
          exchange.sendResult(result.status ?? 400, { ...JSON_TYPE, ...toRetryAfter(result.retryAfterSeconds) }, result);
        } else operation.sendResult(result);
      });
    });
  } catch (error) {
    operation.stop('refused');
    throw error;
  }
}

/** A PUT with a body is not a reservation. */
function isReservation({ method, headers }: IncomingMessage): boolean {
  return method === 'PUT' && Number(headers['content-length'] ?? 0) === 0 && headers['transfer-encoding'] === undefined;
}

function readId(value: unknown): string {
  if (typeof value === 'string' && value !== '' && value.length <= MAX_ID_LENGTH) return value;
  throw fail('VALIDATION_ERROR', `\`operationId\` must be a string of 1 to ${String(MAX_ID_LENGTH)} characters.`);
}
