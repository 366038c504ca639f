/** A supergraph of GraphOS, read by the protocol of Apollo Uplink: a GraphQL query that names the configuration that is known already. */
import { exchange, toPlace } from './exchange.ts';
import { type Reading, SourceError, type SourceLimits, type SupergraphSource, readDelay, readFirst } from './source.ts';

const QUERY = `query SupergraphSdl($ref: String!, $apiKey: String!, $ifAfterId: ID) {
  routerConfig(ref: $ref, apiKey: $apiKey, ifAfterId: $ifAfterId) {
    __typename
    ... on RouterConfigResult { id minDelaySeconds supergraphSdl: supergraphSDL }
    ... on Unchanged { id minDelaySeconds }
    ... on FetchError { code }
  }
}`;

const MAX_ID_LENGTH = 1024;
/** What another endpoint can answer differently, or later. The other codes are about the key and the graph. */
const WORTH_TRYING: ReadonlySet<string> = new Set(['RETRY_LATER', 'NOT_IMPLEMENTED_ON_THIS_INSTANCE']);

export interface UplinkSourceOptions extends SourceLimits {
  /** The endpoints, the preferred one first. */
  readonly endpoints: readonly string[];
  /** A graph and its variant, such as `my-graph@current`. */
  readonly graphRef: string;
  readonly key: string;
}

/** Creates the source. An endpoint is tried when those before it have failed. */
export function createUplinkSource({ endpoints, graphRef, key, ...limits }: UplinkSourceOptions): SupergraphSource {
  let lastId: string | null = null;
  const readEndpoint = async (url: string, signal: AbortSignal): Promise<Reading> => {
    const body = JSON.stringify({
      query: QUERY,
      operationName: 'SupergraphSdl',
      variables: { ref: graphRef, apiKey: key, ifAfterId: lastId },
    });
    const headers = {
      'content-type': 'application/json',
      accept: 'application/json',
      'apollographql-client-name': 'trestle-gateway',
    };
    // Uplink responds to a query that it refuses with 400 and a GraphQL error.
    const { text } = await exchange({ url, method: 'POST', headers, body, maxRedirects: 0 }, { ...limits, statuses: [200, 400], signal });
    const result = readResult(text, toPlace(url));
    lastId = result.id ?? lastId;
    return result;
  };
  return {
    place: `Apollo Uplink (${graphRef})`,
    read: (signal) =>
      readFirst(
        endpoints,
        (url) => readEndpoint(url, signal),
        (error) => error instanceof RefusedByUplink,
      ),
  };
}

/** The key or the graph is refused, which no other endpoint would decide differently. */
class RefusedByUplink extends SourceError {}

interface Result extends Reading {
  readonly id: string | undefined;
}

/** Reads a response. Its messages are not repeated, because they may quote the key. */
function readResult(text: string, place: string): Result {
  const { errors, data } = parseObject(text);
  if (Array.isArray(errors) && errors.length > 0) throw new SourceError(`${place}: responded with a GraphQL error`);
  const { __typename: type, id, minDelaySeconds, supergraphSdl, code } = toObject(toObject(data)['routerConfig']);
  const minDelayMs = readDelay(minDelaySeconds);
  const knownId = typeof id === 'string' && id.length <= MAX_ID_LENGTH ? id : undefined;
  if (type === 'Unchanged') return { id: knownId, sdl: undefined, minDelayMs };
  if (type === 'RouterConfigResult' && typeof supergraphSdl === 'string' && supergraphSdl.trim() !== '')
    return { id: knownId, sdl: supergraphSdl, minDelayMs };
  if (type === 'FetchError') throw toRefusal(typeof code === 'string' && /^[A-Z_]{1,64}$/.test(code) ? code : 'without a code', place);
  throw new SourceError(`${place}: responded with what is not a result of Apollo Uplink`);
}

function toRefusal(code: string, place: string): SourceError {
  const message = `${place}: responded with the error ${code}`;
  return WORTH_TRYING.has(code) ? new SourceError(message) : new RefusedByUplink(message);
}

function parseObject(text: string): Record<string, unknown> {
  try {
    return toObject(JSON.parse(text));
  } catch {
    return {};
  }
}

function toObject(value: unknown): Record<string, unknown> {
  return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {};
}
