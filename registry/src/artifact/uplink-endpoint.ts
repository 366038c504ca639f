/**
 * `POST /uplink`: the protocol of Apollo Uplink, so that gateways that speak it take our launches. A variant is an environment, or a contract of it:
 * `prod_partner` is the contract `partner` of `prod`. Names of environments have no underscore.
 */
import type { IncomingMessage } from 'node:http';
import type { Endpoint } from '@trestle/chassis/server/subgraph';
import type { Log } from '@trestle/log';
import { fail } from '@trestle/schema/errors';
import { type ExecutionResult, GraphQLError, buildSchema, execute, parse, validate } from 'graphql';
import type { Store } from '../store.ts';
import { type CurrentRelease, findCurrentFor, readSupergraph, servedIdOf } from './current-launch.ts';
import { readBody } from './read-body.ts';
import { type Reply, createEndpoint } from './respond.ts';

/** The path. */
export const UPLINK_PATH = '/uplink';

const MAX_BYTES = 64 * 1024;
const MAX_TOKENS = 500;
/** How long clients wait before they ask again. */
const MIN_DELAY_SECONDS = 10;

/** The part of Uplink's schema that its clients use. */
const SCHEMA = buildSchema(`
  type Query {
    routerConfig(ref: String!, apiKey: String!, ifAfterId: ID): RouterConfigResponse!
    routerEntitlements(ref: String!, apiKey: String!, ifAfterId: ID): RouterEntitlementsResponse!
  }
  union RouterConfigResponse = RouterConfigResult | Unchanged | FetchError
  union RouterEntitlementsResponse = RouterEntitlementsResult | Unchanged | FetchError
  type RouterConfigResult { id: ID! supergraphSDL: String! messages: [Message!]! minDelaySeconds: Float! }
  type RouterEntitlementsResult { id: ID! entitlement: RouterEntitlement minDelaySeconds: Float! }
  type RouterEntitlement { jwt: String! }
  type Unchanged { id: ID! minDelaySeconds: Float! }
  type FetchError { code: FetchErrorCode! message: String! minDelaySeconds: Float! }
  enum FetchErrorCode { AUTHENTICATION_FAILED ACCESS_DENIED UNKNOWN_REF RETRY_LATER NOT_IMPLEMENTED_ON_THIS_INSTANCE }
  type Message { level: MessageLevel! body: String! }
  enum MessageLevel { ERROR WARN INFO }
`);

interface Arguments {
  readonly ref: string;
  readonly apiKey: string;
  readonly ifAfterId?: string | null;
}

const FAULTS: Readonly<Record<Exclude<CurrentRelease['kind'], 'found'>, { readonly code: string; readonly message: string }>> = {
  'no-token': { code: 'AUTHENTICATION_FAILED', message: 'The key is not a valid token of the registry.' },
  forbidden: { code: 'ACCESS_DENIED', message: 'The key may not read this variant.' },
  unknown: { code: 'UNKNOWN_REF', message: 'The variant does not exist.' },
  'unknown-contract': { code: 'UNKNOWN_REF', message: 'The variant is no contract of its environment.' },
};

function toFetchError(kind: keyof typeof FAULTS) {
  return { __typename: 'FetchError', ...FAULTS[kind], minDelaySeconds: MIN_DELAY_SECONDS };
}

/** Creates the endpoint. The API key is a token that may read the environment; of `ref` only the part after `@` counts. */
export function createUplinkEndpoint(store: Store, log: Log): Endpoint {
  const find = ({ ref, apiKey }: Arguments) => {
    const [environment = '', ...contract] = ref.slice(ref.lastIndexOf('@') + 1).split('_');
    return findCurrentFor(apiKey, { environment, contract: contract.length > 0 ? contract.join('_') : undefined }, store);
  };
  const rootValue = {
    async routerConfig(args: Arguments) {
      const found = await find(args);
      if (found.kind !== 'found') return toFetchError(found.kind);
      const common = { id: servedIdOf(found), minDelaySeconds: MIN_DELAY_SECONDS };
      if (args.ifAfterId === common.id) return { __typename: 'Unchanged', ...common };
      return { __typename: 'RouterConfigResult', ...common, supergraphSDL: await readSupergraph(found, store), messages: [] };
    },
    /** There are no licences here. */
    async routerEntitlements(args: Arguments) {
      const found = await find(args);
      if (found.kind !== 'found') return toFetchError(found.kind);
      return { __typename: 'RouterEntitlementsResult', id: 'none', entitlement: null, minDelaySeconds: 60 };
    },
  };
  return createEndpoint(async (request): Promise<Reply> => {
    if (request.method !== 'POST') return { kind: 'refused', code: 'METHOD_NOT_ALLOWED', message: 'Send POST.' };
    return { kind: 'json', body: await run(await readQuery(request), rootValue, log) };
  }, log);
}

interface Body {
  readonly query: string;
  readonly variables: Readonly<Record<string, unknown>>;
  readonly operationName: string | undefined;
}

async function run({ query, variables, operationName }: Body, rootValue: object, log: Log): Promise<ExecutionResult> {
  try {
    const document = parse(query, { maxTokens: MAX_TOKENS });
    const errors = validate(SCHEMA, document);
    if (errors.length > 0) return { errors };
    const result = await execute({ schema: SCHEMA, document, rootValue, variableValues: variables, operationName: operationName ?? null });
    const internal = result.errors?.find(({ originalError }) => originalError !== undefined);
    if (!internal) return result;
    log.error('uplink failed', { error: internal.originalError });
    return { errors: [new GraphQLError('Something went wrong on our side')] };
  } catch (error) {
    if (error instanceof GraphQLError) return { errors: [error] };
    throw error;
  }
}

async function readQuery(request: IncomingMessage): Promise<Body> {
  const text = await readBody(request, MAX_BYTES);
  let body: unknown;
  try {
    body = JSON.parse(text);
  } catch {
    body = undefined;
  }
  const { query, variables, operationName } = (typeof body === 'object' && body !== null ? body : {}) as Record<string, unknown>;
  if (typeof query !== 'string') throw fail('VALIDATION_ERROR', 'The request body must be JSON with a `query`.');
  const given = typeof variables === 'object' && variables !== null ? (variables as Record<string, unknown>) : {};
  return { query, variables: given, operationName: typeof operationName === 'string' ? operationName : undefined };
}
