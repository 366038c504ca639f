/** The HTTP door: `/graphql` by GET and POST, straight on node:http, to the GraphQL-over-HTTP specification (contract §1, §6). */
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Caller } from '@trestle/identity';
import { hasRole } from '@trestle/identity';
import type { TokenVerifier } from '@trestle/identity/tokens';
import type { Log } from '@trestle/log';
import { fail } from '@trestle/schema/errors';
import { readRequestId } from '../../request/caller.ts';
import type { Documents } from '../../documents/documents.ts';
import type { Engine, EngineContext, EngineReply, Listener } from '../../engines/engine.ts';
import type { StreamDoor } from '../delivery/stream-transport.ts';
import { chooseStreamFormat } from '../delivery/stream-format.ts';
import { toOperationLabel } from '../../observability/operation-label.ts';
import { readResume } from '../../request/position.ts';
import type { Tracing } from '@trestle/telemetry';
import { abort, toTrailHeaders } from '../../request/trail.ts';
import { createBatch } from './batch.ts';
import { readBody } from './body.ts';
import { servePage } from './graphiql.ts';
import { type MediaType, chooseMediaType } from './media-type.ts';
import { type Parameters, readParameters, readSearchParameters } from '../../request/parameters.ts';
import { ALLOW, CHALLENGE, sendRefusal } from './refusal.ts';
import { type Head, sendBytes, sendText } from './send.ts';
import { createSharedStream } from './event-stream-requests.ts';
import { MAX_URL_BYTES } from '../../request/url.ts';
import { admit, requireCredential } from '../../request/sign-in.ts';
import type { Visit, VisitBook, DoorMetrics } from './visit.ts';

/** No answer was read: nginx's number for it, for log and metrics only. */
const CLIENT_CLOSED_REQUEST = 499;

export interface DoorOptions {
  readonly engine: Engine;
  readonly documents: Documents;
  /** Undefined for a gateway that leaves credentials to its subgraphs. */
  readonly verifier: TokenVerifier | undefined;
  readonly forwardHeaders: readonly string[];
  /** Mutation fields that sign a client in: for them an invalid credential is ignored. */
  readonly signInFields: ReadonlySet<string>;
  /** The most operations that one request may hold; 1 means that there are no batches. */
  readonly maxBatch: number;
  /** Whether there is GraphiQL at `GET /graphql` for browsers. */
  readonly hasPages: boolean;
  readonly log: Log;
  readonly metrics: DoorMetrics;
  readonly book: VisitBook;
  readonly streams: StreamDoor;
  /** Undefined unless spans are exported. */
  readonly tracing: Tracing;
}

/** Gives the handler of all requests that are no probes. */
export function createHttpDoor(options: DoorOptions): (request: IncomingMessage, response: ServerResponse) => void {
  const { engine, documents, verifier, forwardHeaders, signInFields, maxBatch, hasPages, log, metrics, book, streams, tracing } = options;
  const { finish } = book;

  const refuse = (visit: Visit, error: unknown) => {
    sendRefusal(visit, { error, log });
    finish(visit);
  };
  /** Every step behind a callback ends its own request, never the process. */
  const guard = (visit: Visit, act: () => void) => {
    try {
      act();
    } catch (error) {
      refuse(visit, error);
    }
  };

  const answer = (visit: Visit, { parameters, mediaType }: { parameters: Parameters; mediaType: MediaType | undefined }) => {
    const { request } = visit;
    const choice = chooseStreamFormat(request.headers.accept);
    // The answer to a HEAD is a head, and over with it.
    const listener = choice && request.method !== 'HEAD' ? streams.listen(visit, choice.format) : undefined;
    const isStreamed = choice !== undefined && (choice.isPreferred || !mediaType);
    respond(visit, { parameters, listener }, (reply) => {
      guard(visit, () => {
        visit.operation = toOperationLabel(reply.operationName);
        visit.kind = reply.operationKind;
        if (listener && isStreamed) {
          listener.reply(reply);
          return;
        }
        const status = isStreamed ? 200 : (reply.status ?? mediaType?.statusOf(reply.outcome) ?? 200);
        const head = toHead(visit, { mediaType: isStreamed ? choice.format : mediaType, reply });
        sendBytes(visit, { status, head, reply });
        finish(visit);
      });
    });
  };
  const respond = (
    visit: Visit,
    { parameters, listener }: { parameters: Parameters; listener?: Listener | undefined },
    done: (reply: EngineReply) => void,
  ) => {
    const { request } = visit;
    const context = visit.context as EngineContext;
    const { headers } = request;
    const query = documents.resolve(parameters, {
      name: headers['apollographql-client-name'] as string | undefined,
      version: headers['apollographql-client-version'] as string | undefined,
    });
    const { operationName, variables } = parameters;
    requireCredential(visit.refusal, { query, operationName }, signInFields);
    engine.respond(
      {
        query,
        operationName,
        variables,
        resume: toResume(parameters, request),
        isReadOnly: isGet(request),
        context,
        tell: readTelling(request, { caller: context.caller, isOpen: verifier === undefined }),
        listener,
      },
      done,
    );
  };

  const receive = (visit: Visit, mediaType: MediaType | undefined) => {
    readBody(visit.request, (error, body) => {
      guard(visit, () => {
        if (error) throw error;
        if (!Array.isArray(body)) answer(visit, { parameters: readParameters(body as Record<string, unknown>), mediaType });
        else
          createBatch(
            {
              items: body,
              limit: maxBatch,
              respond: (parameters, done) => {
                respond(visit, { parameters }, done);
              },
            },
            (reply) => {
              guard(visit, () => {
                sendBytes(visit, { status: 200, head: toHead(visit, { mediaType, reply }), reply });
                finish(visit);
              });
            },
          );
      });
    });
  };

  const shared = createSharedStream({ streams, respond, guard, finish });

  const pass = (visit: Visit) => {
    const { request, response } = visit;
    const { method = 'GET', url = '/' } = request;
    if (
      hasPages &&
      servePage(visit, () => {
        finish(visit);
      })
    )
      return;
    if (url.length > MAX_URL_BYTES) throw fail('URI_TOO_LONG', `The URL must not be longer than ${String(MAX_URL_BYTES)} bytes`);
    const mark = url.indexOf('?');
    if ((mark < 0 ? url : url.slice(0, mark)) !== '/graphql') throw fail('NOT_FOUND', 'GraphQL is at /graphql');
    if (method === 'OPTIONS') {
      sendText(visit, { status: 200, head: { allow: ALLOW }, text: '' });
      finish(visit);
      return;
    }
    const search = mark < 0 ? '' : url.slice(mark);
    const isShared = shared.concerns(request, search);
    if (!isGet(request) && method !== 'POST' && !isShared) throw fail('METHOD_NOT_ALLOWED', 'Use GET or POST');
    refuseForgery(request);
    const mediaType = chooseMediaType(request.headers.accept);
    if (!mediaType && !isShared && !chooseStreamFormat(request.headers.accept)) throw fail('NOT_ACCEPTABLE', MEDIA_TYPES);
    const { context, refusal } = admit(request, { verifier, forwardHeaders, requestId: visit.requestId, trace: visit.trace });
    if (isShared && refusal) throw refusal;
    visit.context = context;
    visit.refusal = refusal;
    response.once('close', () => {
      if (response.writableFinished) return;
      abort(context.trail);
      if (!response.headersSent) response.statusCode = CLIENT_CLOSED_REQUEST;
      finish(visit);
    });
    if (isShared) shared.handle(visit, search);
    else if (isGet(request)) answer(visit, { parameters: readSearchParameters(search), mediaType });
    else receive(visit, mediaType);
  };

  return (request, response) => {
    const visit: Visit = {
      request,
      response,
      requestId: readRequestId(request),
      started: performance.now(),
      trace: tracing.begin(request.headers),
      context: undefined,
      refusal: undefined,
      operation: undefined,
      kind: undefined,
      isCounted: false,
      isOver: false,
    };
    metrics.begin();
    guard(visit, () => {
      pass(visit);
    });
  };
}

const MEDIA_TYPES =
  'There are application/graphql-response+json and application/json; for subscriptions text/event-stream and multipart/mixed;subscriptionSpec=1.0';

/**
 * A page of somebody else must not make a browser send requests with its user's means: what a browser sends across sites without asking first
 * (forms, images, links) is refused. A POST needs `application/json`, which browsers ask about first; clients that are no browsers send no such headers.
 */
function refuseForgery({ headers }: IncomingMessage): void {
  const site = headers['sec-fetch-site'];
  const isForeign = site === 'cross-site' || site === 'same-site';
  if (isForeign && headers['sec-fetch-mode'] !== 'cors') throw fail('FORBIDDEN', 'Other sites can send requests by CORS only');
}

/** A browser that comes again by itself tells by `Last-Event-ID` what it has seen (HTML, "Server-sent events"). */
function toResume({ resume }: Parameters, { headers }: IncomingMessage): Parameters['resume'] {
  const last = headers['last-event-id'];
  return resume && typeof last === 'string' && last !== '' ? readResume({ resume: { after: last } }) : resume;
}

/** `Trestle-Plan`, `Trestle-Cost` and `Trestle-Snapshot` ask for more; how things are done is for administrators, or where nobody is asked who he is. */
function readTelling({ headers }: IncomingMessage, { caller, isOpen }: { caller: Caller | null; isOpen: boolean }) {
  return {
    plan: headers['trestle-plan'] === '1' && (isOpen || hasRole(caller, 'ADMIN')),
    cost: headers['trestle-cost'] === '1',
    snapshot: headers['trestle-snapshot'] === '1',
  };
}

/** A HEAD is answered as a GET, without the body (RFC 9110 §9.3.2). */
function isGet({ method }: IncomingMessage): boolean {
  return method === 'GET' || method === 'HEAD';
}

function toHead(
  { context, request }: Visit,
  { mediaType, reply }: { mediaType: Pick<MediaType, 'contentType'> | undefined; reply: EngineReply },
): Head {
  const told = context ? toTrailHeaders(context.trail, context.caller) : undefined;
  return {
    'content-type': mediaType?.contentType ?? 'application/json; charset=utf-8',
    ...told,
    ...(reply.status === 401 && CHALLENGE),
    ...(reply.status === 405 && { allow: isGet(request) ? 'POST' : ALLOW }),
  };
}
