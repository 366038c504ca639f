/**
 * graphql-sse's single connection mode: `PUT` reserves a connection, `GET` opens it, `POST` and `GET` send operations into it, `DELETE` ends one.
 * Every request names the connection by the token that `PUT` gave, in a header or in the URL.
 */
import type { IncomingMessage } from 'node:http';
import { fail } from '@trestle/schema/errors';
import type { EngineContext, EngineReply, Listener } from '../../engines/engine.ts';
import type { StreamDoor } from '../delivery/stream-transport.ts';
import { SERVER_SENT_EVENTS, chooseStreamFormat } from '../delivery/stream-format.ts';
import { readBody } from './body.ts';
import { type Parameters, readParameters, readSearchParameters } from '../../request/parameters.ts';
import { sendBytes, sendText } from './send.ts';
import type { Visit } from './visit.ts';

export interface SharedStreamOptions {
  readonly streams: StreamDoor;
  readonly respond: (
    visit: Visit,
    operation: { parameters: Parameters; listener?: Listener | undefined },
    done: (reply: EngineReply) => void,
  ) => void;
  readonly guard: (visit: Visit, act: () => void) => void;
  readonly finish: (visit: Visit) => void;
}

export interface SharedStream {
  /** Whether a request is one of this mode. */
  readonly concerns: (request: IncomingMessage, search: string) => boolean;
  /** Answers it. Throws as {@link StreamDoor} does, and VALIDATION_ERROR. */
  readonly handle: (visit: Visit, search: string) => void;
}

const TOKEN_HEADER = 'x-graphql-event-stream-token';

export function createSharedStream({ streams, respond, guard, finish }: SharedStreamOptions): SharedStream {
  const tell = (visit: Visit, { status, type = 'text/plain; charset=utf-8', text }: { status: number; type?: string; text: string }) => {
    sendText(visit, { status, head: { 'content-type': type }, text });
    finish(visit);
  };
  const join = (visit: Visit, { token, parameters }: { token: string; parameters: Parameters }) => {
    const { caller } = visit.context as EngineContext;
    const id = readId(parameters.extensions['operationId']);
    const operation = streams.join(token, {
      id,
      caller,
      onTaken: () => {
        tell(visit, { status: 202, text: '' });
      },
    });
    const run = () => {
      respond(visit, { parameters, listener: operation }, (reply) => {
        guard(visit, () => {
          // What was not even begun is told to the request itself.
          if (reply.outcome === 'refused') {
            operation.stop('refused');
            const status = reply.status ?? 400;
            sendBytes(visit, { status, head: { 'content-type': 'application/json; charset=utf-8' }, reply });
            finish(visit);
          } else {
            tell(visit, { status: 202, text: '' });
            operation.reply(reply);
          }
        });
      });
    };
    try {
      run();
    } catch (error) {
      operation.stop('refused');
      throw error;
    }
  };

  return {
    concerns: (request, search) => isReservation(request) || request.headers[TOKEN_HEADER] !== undefined || search.includes('token='),
    handle(visit, search) {
      const { request } = visit;
      const { caller } = visit.context as EngineContext;
      const url = new URLSearchParams(search);
      if (request.method === 'PUT') {
        tell(visit, { status: 201, text: streams.reserve(caller) });
        return;
      }
      const token = String(request.headers[TOKEN_HEADER] ?? url.get('token') ?? '');
      if (request.method === 'DELETE') {
        streams.leave(token, { id: readId(url.get('operationId')), caller });
        tell(visit, { status: 200, text: '' });
      } else if (request.method === 'HEAD') throw fail('METHOD_NOT_ALLOWED', 'Use PUT, GET, POST or DELETE');
      else if (chooseStreamFormat(request.headers.accept)?.format === SERVER_SENT_EVENTS) streams.connect(token, visit);
      else if (request.method === 'GET') join(visit, { token, parameters: readSearchParameters(search) });
      else if (request.method === 'POST')
        readBody(request, (error, body) => {
          guard(visit, () => {
            if (error) throw error;
            if (Array.isArray(body)) throw fail('VALIDATION_ERROR', 'Send one operation');
            join(visit, { token, parameters: readParameters(body as Record<string, unknown>) });
          });
        });
      else throw fail('METHOD_NOT_ALLOWED', 'Use PUT, GET, POST or DELETE');
    },
  };
}

/** A PUT that brings something is none of ours, and answered like any other method that there is not. */
function isReservation({ method, headers }: IncomingMessage): boolean {
  return method === 'PUT' && Number(headers['content-length'] ?? 0) === 0 && headers['transfer-encoding'] === undefined;
}

function readId(value: unknown): string {
  if (typeof value === 'string' && value !== '' && value.length <= 200) return value;
  throw fail('VALIDATION_ERROR', '`operationId` must be a string of 1 to 200 characters');
}
