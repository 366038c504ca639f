/** `@authenticated`, `@requiresScopes` and `@policy`: runs operations for callers with different rights, without a network. For tests. */
import { composeServices } from '@apollo/composition';
import type { Caller } from '@trestle/identity';
import { parse } from 'graphql';
import { type Access, NO_ACCESS, decideAll } from '../access/access-rule.ts';
import { toDenialErrors } from '../access/denial.ts';
import { type Executed, type ExecutionRequest, execute } from './execute.ts';
import { readVariables } from './variables.ts';
import { DEFAULT_LIMITS } from '../limits/limits.ts';
import { link } from '../program/operation.ts';
import type { Data } from '../program/program.ts';
import type { SubgraphResult } from '../program/result.ts';
import type { RequestContext } from '../request/context.ts';
import { type Planner, createPlanner } from '../plan/planner.ts';

const LINK =
  'extend schema @link(url: "https://specs.apollo.dev/federation/v2.9", import: ["@key", "@external", "@requires", "@shareable", "@tag", "@authenticated", "@requiresScopes", "@policy"])';

/** Returns the supergraph of subgraphs by their names. */
export function composeSupergraph(sdls: Record<string, string>): string {
  const services = Object.entries(sdls).map(([name, sdl]) => ({ name, url: 'http://x/', typeDefs: parse(`${LINK} ${sdl}`) }));
  const { supergraphSdl, errors } = composeServices(services);
  if (errors) throw new Error(errors.map(({ message }) => message).join());
  return supergraphSdl;
}

/** What a caller with a credential may do. */
export const ANYBODY: Access = { ...NO_ACCESS, isAuthenticated: true };
/** Returns what a caller with these scopes may do. */
export const holding = (...scopes: string[]): Access => ({ ...ANYBODY, scopes: new Set(scopes) });
/** Returns what a caller may do for which these policies hold. */
export const under = (...policies: string[]): Access => ({ ...ANYBODY, policies: new Set(policies) });

/** Fragments may count many times as aliases and selections. */
const LIMITS = { ...DEFAULT_LIMITS, maxAliases: 100_000, maxSelections: 100_000 };
const planners = new Map<string, Planner>();

interface Run {
  readonly access?: Access;
  readonly variables?: Record<string, unknown>;
  readonly answer: (service: string) => object | null;
}

/** Executes an operation for a caller; `answer` returns the data of a subgraph's next fetch. */
export function runFor(sdl: string, query: string, { access = NO_ACCESS, variables = {}, answer }: Run) {
  const planner = planners.get(sdl) ?? createPlanner(sdl, LIMITS);
  planners.set(sdl, planner);
  const request = { query, operationName: undefined, labels: [] };
  const first = planner.prepare(request);
  const prepared = 'rules' in first ? planner.prepare({ ...request, outcome: decideAll(first.rules, access) }) : first;
  if (!('program' in prepared)) throw new Error(JSON.stringify(prepared));
  const operation = link(prepared.program);
  const conditions = readVariables(prepared.program.variables, variables);
  const fetches: string[] = [];
  const send: ExecutionRequest['send'] = ({ service, body }, done) => {
    fetches.push((JSON.parse(body) as { query: string }).query);
    done(null, { data: structuredClone(answer(service)) } as SubgraphResult);
  };
  let executed: Executed | undefined;
  execute({ operation, variables, conditions, context: {} as RequestContext, send }, (done) => {
    executed = done;
  });
  const { data, errors: found } = executed as unknown as Executed;
  const written = { conditions, introspection: {}, buffer: Buffer.alloc(4096), maxBytes: 1e6, faults: [], noteMissing: found.noteMissing };
  const { bytes, length } = operation.compiled.write(data, written) ?? operation.compiled.explain(data, written);
  const caller = access.isAuthenticated ? ({ scopes: access.scopes } as Caller) : null;
  return {
    data: (JSON.parse(`${bytes.toString('utf8', 0, length)}}`) as { data: Data | null }).data,
    errors: toDenialErrors(prepared.program.denials, conditions, caller),
    faults: found.finish(written.faults),
    fetches,
    rules: 'rules' in first ? first.rules : [],
    program: prepared.program,
  };
}
