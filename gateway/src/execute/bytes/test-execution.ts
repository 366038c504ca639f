/** Plans and executes on bytes without a network, so that subgraphs can return anything. For tests. */
import { composeServices } from '@apollo/composition';
import { expect } from '@jest/globals';
import { NoUndefinedVariablesRule, NoUnusedVariablesRule, buildSchema, parse, validate } from 'graphql';
import { DEFAULT_LIMITS } from '../../limits/limits.ts';
import { createPlanner } from '../../plan/planner.ts';
import { type Operation, link } from '../../program/operation.ts';
import type { FetchDone, ResultError } from '../../program/result.ts';
import type { RequestContext } from '../../request/context.ts';
import { readResponse } from '../../upstream/subgraph-response.ts';
import { createBufferPool } from '../buffer-pool.ts';
import type { FetchRequest, SendFetch } from '../execute.ts';
import type { Executor } from '../executor.ts';
import { readVariables } from '../variables.ts';
import { ArenaPool } from './arena.ts';
import { createBytesExecutor } from './bytes-executor.ts';

const LINK =
  'extend schema @link(url: "https://specs.apollo.dev/federation/v2.9", import: ["@key", "@external", "@requires", "@shareable", "@interfaceObject", "@cost"])';

/** Returns the supergraph of subgraphs by their names. */
export function composeSupergraph(sdls: Record<string, string>): string {
  const services = Object.entries(sdls).map(([name, sdl]) => ({ name, url: 'http://x/', typeDefs: parse(`${LINK} ${sdl}`) }));
  const { supergraphSdl, errors } = composeServices(services);
  if (errors) throw new Error(errors.map(({ message }) => message).join());
  return supergraphSdl;
}

const SHOP = composeSupergraph({
  users: `type Query { users: [User!]! me: User } type User @key(fields: "id") { id: ID! name: String! }
    type Mutation { rename(name: String!): User }`,
  orders: `type User @key(fields: "id") { id: ID! orders: [Order!]! count: Int } type Order { n: Int! product: Product! }
    type Product @key(fields: "id", resolvable: false) { id: ID! }`,
  products: `type Product @key(fields: "id") { id: ID! title: String! kind: Kind things: [Thing!] } enum Kind { BIG SMALL }
    union Thing = Book | Film type Book { pages: Int! } type Film { name: String }`,
});

type PlannerOptions = NonNullable<Parameters<typeof createPlanner>[2]>;

/** Returns an operation that is ready to be executed, of a shop by default. */
export function prepare(query: string, sdl = SHOP, options: PlannerOptions = {}): Operation {
  const prepared = createPlanner(sdl, DEFAULT_LIMITS, options).prepare({ query, operationName: undefined, labels: [] });
  if (!('program' in prepared)) throw new Error(JSON.stringify(prepared));
  return link(prepared.program);
}

/** A subgraph's response as a string. */
export type Respond = (fetch: { service: string; query: string; variables: Record<string, unknown> }) => string;

/** Returns an executor (by default that on bytes), how its executions ended, its arenas, and the errors of results. */
export function createRunner(other?: Executor) {
  const arenas = new ArenaPool({ isOverwriting: true });
  const paths: string[] = [];
  /** The actual costs of assembled results. */
  const costs: (number | undefined)[] = [];
  const found: ResultError[] = [];
  const onBytes = createBytesExecutor({
    buffers: createBufferPool(1e7),
    arenas,
    count: (_, path) => {
      paths.push(path);
    },
  });
  /** Returns the result as a string, or its error messages. */
  const run = (operation: Operation, send: SendFetch, variables: Record<string, unknown> = {}) =>
    new Promise<string>((resolve) => {
      const conditions = readVariables(operation.program.variables, variables);
      (other ?? onBytes).execute(
        { operation, variables, conditions, context: {} as RequestContext, send, needsObjects: false, needsCost: true },
        (result) => {
          costs.push('assembled' in result ? result.cost : undefined);
          if ('assembled' in result) {
            const { bytes, length } = result.assembled;
            found.push(...result.errors);
            resolve(`${bytes.toString('utf8', 0, length)}}${result.errors.map(({ message }) => message).join()}`);
            return;
          }
          const { data, errors } = result;
          const request = {
            conditions,
            introspection: {},
            buffer: Buffer.alloc(2048),
            maxBytes: 1e9,
            faults: [],
            noteMissing: errors.noteMissing,
          };
          const written = operation.compiled.explain(data, request);
          const finished = errors.finish(request.faults);
          found.push(...finished);
          const messages = finished.map(({ message }) => message);
          resolve(`${written.bytes.toString('utf8', 0, written.length)}}${messages.join()}`);
        },
      );
    });
  return { run, paths, arenas, costs, found };
}

/** Ends a fetch with a response, as the client of subgraphs does. */
export const respond = ({ service, body, take }: FetchRequest, done: FetchDone, text: Respond): void => {
  const bytes = Buffer.from(text({ service, ...(JSON.parse(body) as { query: string; variables: Record<string, unknown> }) }));
  const taken = take?.(bytes, 0, bytes.length);
  if (taken) done(null, taken);
  else {
    const result = readResponse({ status: 200, contentType: undefined, text: bytes.toString() });
    done(result ? null : { code: 'UPSTREAM_ERROR', message: 'no result', cause: undefined }, result ?? {});
  }
};

/** Their variables can be validated without the schema of a subgraph. */
const ANY_SCHEMA = buildSchema('type Query { any: String }');
const VARIABLE_RULES = [NoUndefinedVariablesRule, NoUnusedVariablesRule];

/** Runs a query of the shop, and returns its result, how it was executed, and which requests were sent. */
export const runOnce = (query: string, text: Respond, variables: Record<string, unknown> = {}) =>
  runOperation(prepare(query), text, variables);

/** Runs an operation as {@link runOnce} does. Each request must define the variables that it uses, and no others. */
export async function runOperation(operation: Operation, text: Respond, variables: Record<string, unknown> = {}) {
  const { run, paths, arenas, costs } = createRunner();
  const sent: string[] = [];
  const result = await run(
    operation,
    (fetch, done) => {
      const { query } = JSON.parse(fetch.body) as { query: string };
      expect(validate(ANY_SCHEMA, parse(query), VARIABLE_RULES)).toEqual([]);
      sent.push(`${fetch.service} ${query}`);
      respond(fetch, done, text);
    },
    variables,
  );
  expect(arenas.counts.used).toBe(0);
  return { result, path: paths.join(), sent, cost: costs[0] };
}

export const USERS = '{"data":{"users":[{"id":"1","name":"A"},{"id":"2","name":"\\u0042 \\"é\\""}]}}';
export const ORDERS =
  '{"data":{"_entities":[{"orders":[{"n":1,"product":{"id":"p1"}},{"n":2,"product":{"id":"p2"}}]},{"orders":[{"n":3,"product":{"id":"p1"}}]}]}}';
export const PRODUCTS = '{"data":{"_entities":[{"title":"P1","kind":"BIG"},{"title":"P2","kind":null}]}}';
/** Returns these responses. The object executor requests the names of types too. */
export const byService =
  (texts: Record<string, string>): Respond =>
  ({ service, query }) =>
    (texts[service] ?? '').replaceAll(
      '"product":{',
      query.includes('product{__typename') ? '"product":{"__typename":"Product",' : '"product":{',
    );
