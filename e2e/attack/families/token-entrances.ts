/** Every place at which a token is accepted, and how it answers (spec §5.7, contract §3). */
import type { Field } from '../attack.ts';
import type { ServiceName } from '../target/system.ts';
import { ask, askGraphql } from '../wire/http.ts';
import type { RawReply } from '../wire/http-reply.ts';
import { openRawSocket } from '../wire/web-socket.ts';

/** What an entrance has answered. */
export interface Answer {
  /** The HTTP status, or the close code of a WebSocket; 0 when the server has neither answered nor closed. */
  readonly status: number;
  /** The header `WWW-Authenticate`; undefined without one, and at a WebSocket. */
  readonly challenge: string | undefined;
  readonly text: string;
}

/** A place at which a token is accepted. */
export interface Entrance {
  readonly name: string;
  readonly target: ServiceName;
  /** Sends a request for private data, with a value of `Authorization`. */
  readonly send: (field: Field, authorization: string) => Promise<Answer>;
  /** Whether the answer is the one of a credential that is refused. */
  readonly isRefusal: (answer: Answer) => boolean;
}

const REFUSAL_MS = 5000;
const CHALLENGE = 'Bearer realm="api", error="invalid_token"';
/** What parsers answer to a request line, a header or a message that is too long. */
const TOO_LONG = new Set([413, 431, 1009]);
/** The gateway closes with 4403, subgraphs with 4401. */
const REFUSAL_CODES = new Set([4401, 4403]);

/** Only the account itself sees these. */
const OWN_DATA = '{me{id email} sessions(first:1){totalCount}}';
const QUERIES = {
  gateway: OWN_DATA,
  users: OWN_DATA,
  orders: '{ordersConnection(first:1){edges{node{id total}}}}',
  content: '{postsConnection(first:1,filter:{status:DRAFT}){edges{node{id title}}}}',
} as const;
type GraphqlTarget = keyof typeof QUERIES;

const toAnswer = ({ status, headers, body }: RawReply): Answer => ({
  status,
  challenge: headers['www-authenticate'],
  text: body.toString(),
});
const isHttpRefusal = ({ status, challenge }: Answer) => TOO_LONG.has(status) || (status === 401 && challenge === CHALLENGE);
/** Subgraphs are not reached by clients, and send no challenge. */
const isSubgraphRefusal = ({ status, text }: Answer) =>
  TOO_LONG.has(status) || (status === 401 && text.includes('"reason":"invalid_token"'));
const isSocketRefusal = ({ status }: Answer) => TOO_LONG.has(status) || REFUSAL_CODES.has(status);

function overHttp(name: string, target: ServiceName, request: { path: string; headers?: readonly string[]; body?: string }): Entrance {
  const send: Entrance['send'] = async ({ connections, addresses }, authorization) =>
    toAnswer(
      await ask(connections, addresses[target], { ...request, headers: [...(request.headers ?? []), 'Authorization', authorization] }),
    );
  return { name, target, send, isRefusal: isHttpRefusal };
}

function overPost(target: GraphqlTarget): Entrance {
  const send: Entrance['send'] = async ({ connections, addresses }, authorization) =>
    toAnswer(await askGraphql(connections, addresses[target], { query: QUERIES[target] }, { headers: ['Authorization', authorization] }));
  const isRefusal = target === 'gateway' ? isHttpRefusal : isSubgraphRefusal;
  return { name: `GraphQL by POST at ${target}`, target, send, isRefusal };
}

/** Sends the token in the payload of `connection_init`, or as a header of the request for the WebSocket. */
function overSocket(target: GraphqlTarget, place: 'connection_init' | 'the header of a WebSocket'): Entrance {
  const isInHeader = place !== 'connection_init';
  const send: Entrance['send'] = async ({ connections, addresses }, authorization) => {
    const headers = isInHeader ? [`Authorization: ${authorization}`] : [];
    const opened = await openRawSocket(connections, addresses[target], { headers }).catch((error: unknown) => String(error));
    if (typeof opened === 'string')
      return { status: Number(/HTTP\/1\.1 (\d+)/.exec(opened)?.[1] ?? 0), challenge: undefined, text: opened };
    opened.send({ type: 'connection_init', payload: isInHeader ? {} : { authorization } });
    opened.send({ id: '1', type: 'subscribe', payload: { query: QUERIES[target] } });
    const next = await opened.message(({ type }) => type === 'next' || type === 'error', REFUSAL_MS);
    const text = opened.connection.received().toString();
    opened.connection.socket.destroy();
    return { status: next ? 200 : (opened.closeCode() ?? 0), challenge: undefined, text };
  };
  return { name: `${place} at ${target}`, target, send, isRefusal: isSocketRefusal };
}

const asSearch = `/graphql?query=${encodeURIComponent(OWN_DATA)}`;

/** Lists every entrance. */
export const ENTRANCES: readonly Entrance[] = [
  overHttp('REST', 'rest-bridge', { path: '/v1/sessions?limit=1' }),
  overHttp('REST by POST', 'rest-bridge', { path: '/v1/posts', headers: ['Content-Type', 'application/json'], body: '{}' }),
  overHttp('GraphQL by GET', 'gateway', { path: asSearch }),
  overHttp('server-sent events', 'gateway', { path: asSearch, headers: ['Accept', 'text/event-stream'] }),
  overHttp('multipart responses', 'gateway', { path: asSearch, headers: ['Accept', 'multipart/mixed;subscriptionSpec=1.0'] }),
  ...(['gateway', 'users', 'orders', 'content'] as const).flatMap((target) => [overPost(target), overSocket(target, 'connection_init')]),
  overSocket('gateway', 'the header of a WebSocket'),
];
