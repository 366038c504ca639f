/** Prepares an operation for execution on bytes (ADR 23): the requests of its fetches, their walkers, and the holes between them. */
import { baseCost } from '@trestle/graph-checks/cost-directives';
import type { GraphQLObjectType, GraphQLSchema } from 'graphql';
import type { BytesProgram } from '../../program/bytes-program.ts';
import { type FieldCosts, createFieldCosts } from '../cost/cost.ts';
import { OWN } from '../selections/literals.ts';
import type { GuardedSet, Selections } from '../selections/selection.ts';
import { Arrangement } from './arrangement.ts';
import { type FetchSource, askFetch, toBytesFetch } from './requested-fetch.ts';
import { Unsupported } from './requested-object.ts';
import { printFetch } from './fetch-document.ts';
import { type WalkerContext, generateWalker } from './walker-code.ts';

export interface BytesInput {
  /** The schema of clients, and that of the whole supergraph. */
  readonly schema: GraphQLSchema;
  readonly wholeSchema: GraphQLSchema;
  readonly root: GraphQLObjectType;
  readonly sets: readonly GuardedSet[];
  readonly selections: Selections;
  /** The fetches of the plan, in the order of their indexes. */
  readonly sources: readonly FetchSource[];
}

/** `code` is an expression of type `(scan: Scanners) => Walk[]`, `argumentCosts` one of type `Compiled['argumentCosts']`. */
export type GeneratedBytes =
  | { readonly program: BytesProgram; readonly code: string; readonly argumentCosts: string }
  | { readonly program: undefined; readonly reason: string };

/** The bits of a JavaScript integer that a mask may use. */
const MAX_CONDITIONS = 30;
const MAX_FETCHES = 100;
const MAX_CONSTANTS = 16 * 1024;

/** Returns the program and the code of its walkers; the reason for an operation that only the object executor supports. */
export function generateBytes(input: BytesInput): GeneratedBytes {
  try {
    return generate(input);
  } catch (error) {
    if (error instanceof Unsupported) return { program: undefined, reason: error.message };
    throw error;
  }
}

function generate({ schema, wholeSchema, root, sets, selections, sources }: BytesInput): GeneratedBytes {
  if (sources.length === 0 || sources.length > MAX_FETCHES) throw new Unsupported('no fetch, or very many');
  const fetches = sources.map((source, index) => askFetch(wholeSchema, source, index));
  const arrangement = new Arrangement({ schema, root, sets, selections, fetches });
  arrangement.arrange();
  const documents = fetches.map(printFetch);
  const { holes, rootHoles } = arrangement;
  const costs = createFieldCosts(wholeSchema);
  const { context, conditions, constants, argumentCosts } = createContext((hole) => holes[hole]?.words ?? 0, costs);
  const walkers = fetches.map((fetch) => generateWalker(fetch, context));
  const program: BytesProgram = {
    fetches: fetches.map((fetch, i) => toBytesFetch(fetch, documents[i] ?? '')),
    holes,
    rootHoles,
    conditions,
    constants: constants.join(''),
    baseCost: baseCost(schema, root.name),
  };
  return {
    program,
    code: `scan=>{"use strict";return[${walkers.join(',')}];}`,
    argumentCosts:
      argumentCosts.length === 0 ? '()=>[]' : `(()=>{${OWN}${costs.declarations()}return vars=>[${argumentCosts.join(',')}];})()`,
  };
}

function createContext(wordsOf: (hole: number) => number, costs: FieldCosts) {
  const conditions: string[] = [];
  const constants: string[] = [];
  let length = 0;
  const places = new Map<string, number>();
  const argumentCosts: string[] = [];
  const context: WalkerContext = {
    wordsOf,
    costOf(type, field) {
      const { args, ...weights } = costs.of(type, field);
      const fixed = Number(args);
      if (!Number.isNaN(fixed)) return { ...weights, args: String(fixed) };
      return { ...weights, args: `g[${argumentCosts.push(args) - 1}]` };
    },
    bitOf(variable) {
      const bit = conditions.indexOf(variable);
      if (bit >= 0) return bit;
      if (conditions.length >= MAX_CONDITIONS) throw new Unsupported('very many conditions');
      return conditions.push(variable) - 1;
    },
    constant(text) {
      const known = places.get(text);
      if (known !== undefined) return known;
      const at = length;
      places.set(text, at);
      constants.push(text);
      length += text.length;
      if (length > MAX_CONSTANTS) throw new Unsupported('very many names of types');
      return at;
    },
  };
  return { context, conditions, constants, argumentCosts };
}
