/**
 * Compiles routes for the pipeline, once for each version. Operations are compiled at the first request that needs them: to compile and validate
 * them all would take a third of a start. Tests and `npm run openapi` check them instead.
 */
import type { Alternatives } from '@trestle/identity/required-scopes';
import { type OperationDefinitionNode, OperationTypeNode } from 'graphql';
import { type CompileOperation, createOperationCompiler, readOperations } from '../operations/operations.ts';
import { createRequiredScopes } from '../operations/required-scopes.ts';
import { argumentsOf, createArgumentReader } from '../query/argument-body.ts';
import { createBodyParser, writableFields } from '../query/body-input.ts';
import { createFlagsParser } from '../query/flag-parameters.ts';
import { type FindLimitFaults, createLimitCheck } from '../query/limit-faults.ts';
import { createListParser } from '../query/list-parameters.ts';
import type { ReaderContext, RequestReader } from '../query/request-reader.ts';
import { type RouteTable, createRouteTable } from '../routes/route-table.ts';
import { type Alternative, type LocalRoute, type Method, type OperationRoute, type Route, hasBody } from '../routes/route.ts';

interface CompiledBase {
  readonly method: Method;
  readonly path: string;
  readonly hasBody: boolean;
  /** The scopes of which the caller needs one list; undefined for a route that demands none. */
  readonly requiredScopes: Alternatives | undefined;
}

/** A route that runs an operation, with its reader and its operation compiled. */
export interface CompiledOperationRoute extends CompiledBase {
  readonly route: OperationRoute;
  readonly isMutation: boolean;
  readonly read: RequestReader;
  /** Finds values of the body that are beyond their limits, in the variables of the operation. */
  readonly findLimitFaults: FindLimitFaults;
  readonly operation: CompileOperation;
  readonly alternatives: readonly CompiledAlternative[];
  /** For routes that can be streamed. */
  readonly stream?: CompiledStream;
  /** For writes with conditions: the query for the version and the last change of the resource. */
  readonly stateQuery?: CompileOperation;
  /** For creations: the route that reads the collection. */
  readonly collection?: CompiledOperationRoute;
  /** For writes that name an account: the query for it. */
  readonly accountQuery?: CompileOperation;
}

/** A route that the bridge answers without the gateway. */
export interface CompiledLocalRoute extends CompiledBase {
  readonly route: LocalRoute;
}

/** A route of one version. */
export type CompiledRoute = CompiledOperationRoute | CompiledLocalRoute;

/** Another media type of a representation, with the operation that selects what it needs. */
export interface CompiledAlternative extends Pick<Alternative, 'type' | 'write'> {
  readonly operation: CompileOperation;
}

/** The subscription of a route that can be streamed. */
export interface CompiledStream {
  readonly operation: CompileOperation;
}

/** The route that reads an account. */
const ACCOUNT_PATH = '/users/{id}';

/** Compiles routes into a table. Throws an Error when a route names an operation or a type that does not exist. */
export function compileRoutes(routes: readonly Route[], context: ReaderContext): RouteTable<CompiledRoute> {
  return createRouteTable(withCollections(compileEach(routes, context)));
}

/** Throws an Error when a route cannot be compiled, or the default fields of its resource do not fit its operations. */
export function checkRoutes(routes: readonly Route[], context: ReaderContext): void {
  for (const compiled of compileEach(routes, context)) {
    if (!('operation' in compiled)) continue;
    const { operation, alternatives, stream, stateQuery, accountQuery } = compiled;
    for (const compile of [operation, ...alternatives.map((each) => each.operation), stream?.operation, stateQuery, accountQuery])
      compile?.({ fields: undefined, include: [] });
  }
}

function compileEach(routes: readonly Route[], context: ReaderContext): CompiledRoute[] {
  const operations = readOperations();
  const findOperation = (name: string): OperationDefinitionNode => {
    const operation = operations.get(name);
    if (!operation) throw new Error(`Operation ${name} does not exist`);
    return operation;
  };
  const requiredScopesOf = createRequiredScopes(context.schema, operations);
  return routes.map((route): CompiledRoute => {
    const { method, path } = route;
    const requiredScopes = requiredScopesOf(route);
    if (!('operation' in route)) return { route, method, path, hasBody: false, requiredScopes };
    const operation = findOperation(route.operation);
    const reading = findReadingRoute(routes, route);
    const account = route.accountField === undefined ? undefined : findRead(routes, ACCOUNT_PATH);
    return {
      route,
      method,
      path,
      hasBody: hasBody(route),
      requiredScopes,
      isMutation: operation.operation === OperationTypeNode.MUTATION,
      read: createReader(route, context),
      findLimitFaults: createBodyCheck(route, context),
      operation: createOperationCompiler(context, operation, route.resource),
      alternatives: (route.alternatives ?? []).map(({ type, write, resource }) => ({
        type,
        write,
        operation: createOperationCompiler(context, operation, resource),
      })),
      ...(route.stream && {
        stream: { operation: createOperationCompiler(context, findOperation(route.stream.operation), route.resource) },
      }),
      ...(reading && { stateQuery: createOperationCompiler(context, findOperation(reading.operation), reading.resource) }),
      ...(account && { accountQuery: createOperationCompiler(context, findOperation(account.operation), account.resource) }),
    };
  });
}

/** Returns the routes; those with conditions on their collection with the route that reads it. */
function withCollections(compiled: readonly CompiledRoute[]): CompiledRoute[] {
  return compiled.map((creation) => {
    if (!('operation' in creation) || creation.route.conditionsOn !== 'collection') return creation;
    const { path, collectionPath = path } = creation.route;
    const isListing = (other: CompiledRoute): other is CompiledOperationRoute =>
      'operation' in other && other.method === 'GET' && other.path === collectionPath;
    const collection = compiled.find(isListing);
    if (!collection) throw new Error(`No route reads ${collectionPath}`);
    return { ...creation, collection };
  });
}

function createReader({ input }: OperationRoute, context: ReaderContext): RequestReader {
  switch (input.kind) {
    case 'path': {
      const parseFlags = createFlagsParser(Object.keys(input.flags ?? {}));
      return ({ params, query }, faults) => ({ variables: { ...params, ...parseFlags(query, faults) } });
    }
    case 'list': {
      const parseList = createListParser(context, input.rule);
      return ({ params, query }, faults) => {
        const list = parseList(query, faults);
        return { ...list, variables: { ...params, ...list.variables } };
      };
    }
    case 'body': {
      const parseBody = createBodyParser(context, input.rule);
      return (request, faults) => {
        const { input: parsed, names: bodyNames } = parseBody(request, faults);
        return { variables: { ...request.params, input: parsed }, bodyNames };
      };
    }
    case 'arguments':
      return createArgumentReader(context, input.mutation);
    case 'upload part':
      return ({ params }) => ({ variables: params });
    case 'upload':
      return () => ({ variables: { file: null } });
    case 'custom':
      return input.createReader(context);
  }
}

function createBodyCheck({ input }: OperationRoute, context: ReaderContext): FindLimitFaults {
  if (input.kind === 'arguments') {
    const toCoordinate = (name: string) => `Mutation.${input.mutation}(${name}:)`;
    return createLimitCheck(argumentsOf(context, input.mutation).map(({ name, type }) => ({ coordinate: toCoordinate(name), name, type })));
  }
  if (input.kind !== 'body') return () => [];
  const fields = [...writableFields(context, input.rule).fields.values()];
  const find = createLimitCheck(fields.map(({ name, type }) => ({ coordinate: `${input.rule.input}.${name}`, name, type })));
  return (variables) => find(variables['input'] as Readonly<Record<string, unknown>>);
}

/** Returns the route that reads what a write changes: at the same path, or at the parent path of an action. */
function findReadingRoute(routes: readonly Route[], { path, conditionsOn }: OperationRoute): OperationRoute | undefined {
  if (!conditionsOn || conditionsOn === 'collection') return undefined;
  return findRead(routes, conditionsOn === 'resource' ? path : path.slice(0, path.lastIndexOf('/')));
}

function findRead(routes: readonly Route[], path: string): OperationRoute {
  const found = routes.find((route): route is OperationRoute => 'operation' in route && route.method === 'GET' && route.path === path);
  if (!found) throw new Error(`No route reads ${path}`);
  return found;
}
