/** Runs operations with deferred fragments for tests, without a network. */
import type { CompiledDeferred } from '../../program/deferred-program.ts';
import { link } from '../../program/operation.ts';
import type { Planner } from '../../plan/planner.ts';
import type { RequestContext } from '../../request/context.ts';
import type { IncrementalFormat } from '../../request/operation.ts';
import { readVariables } from '../variables.ts';
import { DeferredExecution } from './deferred-execution.ts';
import { writeFirst, writePart } from './write-parts.ts';

/** Returns the response of a subgraph. */
export type Answer = (service: string, query: string, representations: { id: string }[]) => object;

export interface Run {
  readonly variables?: Record<string, unknown>;
  readonly spec?: IncrementalFormat;
  readonly reply?: Answer;
}

/** What was delivered, and which subgraphs got fetches; `|` is where a response was delivered. */
export interface Ran {
  readonly responses: unknown[];
  readonly fetches: string[];
}

/** Creates what runs an operation. Both lists of its result are empty when nothing of the operation is deferred. */
export function createRun(planner: Planner, answer: Answer): (query: string, run?: Run) => Ran {
  return (query, { variables = {}, spec = 'current', reply = answer } = {}) => {
    const prepared = planner.prepare({ query, operationName: undefined, labels: [], isIncremental: true });
    if (!('program' in prepared)) throw new Error(JSON.stringify(prepared));
    const { program } = prepared;
    if (!program.deferred) return { responses: [], fetches: [] };
    const operation = link(program);
    const fetches: string[] = [];
    const execution = new DeferredExecution({
      program: program.deferred,
      request: {
        operation: { ...operation, deferred: operation.deferred as CompiledDeferred },
        variables,
        conditions: readVariables(program.variables, variables),
        context: {} as RequestContext,
        send: ({ service, body }, done) => {
          const parsed = JSON.parse(body) as { query: string; variables: { representations?: { id: string }[] } };
          fetches.push(service);
          done(null, structuredClone(reply(service, parsed.query, parsed.variables.representations ?? [])));
        },
      },
      buffer: Buffer.alloc(64),
      maxBytes: 10_000_000,
    });
    const format = (errors: readonly { message: string; path?: unknown }[]) =>
      errors.map(({ message, path }) => ({ message, path }) as never);
    const responses: unknown[] = [];
    execution.first((delivery, pending) => {
      responses.push(
        pending.length === 0
          ? { data: JSON.parse(delivery.data) as unknown }
          : JSON.parse(writeFirst(delivery, pending, { format, spec }).toString()),
      );
      fetches.push('|');
    });
    execution.rest((part) => {
      responses.push(JSON.parse(writePart(part, { format, spec }).toString()));
      fetches.push('|');
    });
    return { responses, fetches };
  };
}
