/** Compares the two engines over random supergraphs and operations, and shrinks operations that fail. */
import { type GraphQLSchema, parse, print } from 'graphql';
import { exchangeKeys } from './aliases.ts';
import { withoutConditions } from './conditions.ts';
import { type FuzzAnswer, type FuzzEngine, startApollo, startTrestle } from './engines.ts';
import { type FuzzOperation, generateOperation } from './operations.ts';
import { createRandom, hash } from './random.ts';
import { agree, splitByArguments } from './requirements.ts';
import { shrink, withoutUnused } from './shrink.ts';
import { createSubgraphs } from './subgraphs.ts';
import { type FuzzSupergraph, type Requirement, generateSupergraph } from './supergraph.ts';

export interface FuzzReport {
  readonly operations: number;
  readonly supergraphs: number;
  /** Numbers of operations whose responses differ because of a known fault of the stock engine, by the fault's name. */
  readonly known: ReadonlyMap<string, number>;
  readonly failures: readonly FuzzFailure[];
}

export interface FuzzFailure {
  readonly seed: number;
  readonly supergraph: FuzzSupergraph;
  readonly operation: FuzzOperation;
  readonly difference: string;
}

export interface FuzzOptions {
  readonly seed: number;
  readonly operations: number;
  /** Operations for each supergraph. */
  readonly perSupergraph: number;
  readonly maxFailures: number;
}

export async function fuzz({ seed, operations, perSupergraph, maxFailures }: FuzzOptions): Promise<FuzzReport> {
  const known = new Map<string, number>();
  const failures: FuzzFailure[] = [];
  let done = 0;
  let supergraphs = 0;
  for (let next = seed; done < operations && failures.length < maxFailures; next++) {
    const supergraph = generateSupergraph(createRandom(next));
    if (!supergraph) continue;
    supergraphs++;
    const engines = await start(supergraph);
    const random = createRandom(next);
    for (let i = 0, tries = 0; i < perSupergraph && tries < perSupergraph * 5 && done < operations; tries++) {
      const operation = generateOperation(engines.apollo.schema, random);
      if (!operation) continue;
      i++;
      done++;
      const verdict = await compare(engines, operation);
      if (verdict.kind === 'known') known.set(verdict.fault, (known.get(verdict.fault) ?? 0) + 1);
      if (verdict.kind !== 'different') continue;
      const isDifferent = async (candidate: FuzzOperation) => (await compare(engines, candidate)).kind === 'different';
      const small = await shrink(operation, { schema: engines.apollo.schema, isDifferent });
      failures.push({ seed: next, supergraph, operation: small, difference: describe(await compare(engines, small)) });
      if (failures.length >= maxFailures) break;
    }
    await engines.apollo.stop();
  }
  return { operations: done, supergraphs, known, failures };
}

interface Engines {
  readonly apollo: Awaited<ReturnType<typeof startApollo>>;
  readonly trestle: FuzzEngine;
  readonly hasInterfaceObject: boolean;
  readonly requirements: readonly Requirement[];
}

async function start(supergraph: FuzzSupergraph): Promise<Engines> {
  const subgraphs = createSubgraphs(supergraph);
  const apollo = await startApollo(supergraph.sdl, subgraphs);
  return {
    apollo,
    trestle: withExchangedKeys(startTrestle(supergraph.sdl, subgraphs), apollo.schema),
    hasInterfaceObject: supergraph.sdl.includes('isInterfaceObject: true'),
    requirements: supergraph.requirements,
  };
}

/** Returns an engine that executes half of the operations with other response keys, which must not change anything else. */
function withExchangedKeys(engine: FuzzEngine, schema: GraphQLSchema): FuzzEngine {
  return {
    stop: () => engine.stop(),
    async run(given) {
      const drawn = hash(given.query);
      if (drawn < 0.5) return engine.run(given);
      const { operation, restore, restoreKey } = exchangeKeys(given, schema, createRandom(Math.floor(drawn * 1e9)));
      const { data, errors, paths, isBatched } = await engine.run(operation);
      const restoreError = (error: string) => {
        const [path = '', code = ''] = error.split(' ');
        return `${path.split('.').map(restoreKey).join('.')} ${code}`;
      };
      const restorePath = (path: FuzzAnswer['paths'][number]) =>
        path?.map((segment) => (typeof segment === 'string' ? restoreKey(segment) : segment));
      return {
        data: restore(data),
        errors: errors.map(restoreError).sort(),
        paths: paths.map(restorePath),
        ...(isBatched !== undefined && { isBatched }),
      };
    },
  };
}

type Verdict =
  | { readonly kind: 'equal' }
  | { readonly kind: 'known'; readonly fault: string }
  | { readonly kind: 'different'; readonly apollo: FuzzAnswer | string; readonly trestle: FuzzAnswer | string };

async function compare(engines: Engines, operation: FuzzOperation): Promise<Verdict> {
  const verdict = await compareWhole(engines, operation);
  if (verdict.kind !== 'different' || typeof verdict.trestle === 'string') return verdict;
  return (
    (await compareParts(engines, operation, verdict.trestle)) ?? (await compareDecided(engines, operation, verdict.trestle)) ?? verdict
  );
}

/** Returns the fault when the stock engine gives the expected result for the operation without its conditions. */
async function compareDecided({ apollo }: Engines, { query, variables }: FuzzOperation, whole: FuzzAnswer): Promise<Verdict | undefined> {
  const decided = withoutUnused(withoutConditions(parse(query), variables));
  const answer = await attempt(apollo, { query: print(decided), variables });
  const isSame = typeof answer === 'object' && JSON.stringify(sort(answer.data)) === JSON.stringify(sort(whole.data));
  return isSame ? { kind: 'known', fault: 'fields beside a condition vanish' } : undefined;
}

/** Returns the fault when arguments under `@requires` conflict, and the stock engine gives the expected results for each part of the operation. */
async function compareParts(engines: Engines, { query, variables }: FuzzOperation, whole: FuzzAnswer): Promise<Verdict | undefined> {
  const parts = splitByArguments(parse(query), engines.requirements);
  for (const part of parts) {
    const operation = { query: print(withoutUnused(part)), variables };
    const answer = await attempt(engines.trestle, operation);
    if (typeof answer === 'string' || !agree(answer.data, whole.data)) return undefined;
    if ((await compareWhole(engines, operation)).kind === 'different') return undefined;
  }
  return parts.length === 0 ? undefined : { kind: 'known', fault: 'arguments of a field under @requires' };
}

async function compareWhole({ apollo, trestle, hasInterfaceObject }: Engines, operation: FuzzOperation): Promise<Verdict> {
  const [a, t] = await Promise.all([attempt(apollo, operation), attempt(trestle, operation)]);
  const areEqual =
    typeof a === 'string' || typeof t === 'string'
      ? typeof a === typeof t
      : JSON.stringify(sort(a.data)) === JSON.stringify(sort(t.data)) && JSON.stringify(a.errors) === JSON.stringify(t.errors);
  return areEqual ? { kind: 'equal' } : toKnown(a, t, { hasInterfaceObject, isConditional: /@(?:skip|include)/.test(operation.query) });
}

interface Circumstances {
  readonly hasInterfaceObject: boolean;
  readonly isConditional: boolean;
}

const withoutIndices = (errors: readonly string[]) =>
  [...new Set(errors.map((error) => error.replaceAll(/(?<=^|\.)\d+(?=\.| )/g, '#')))].sort();

/** Recognises known faults of the stock engine (docs/gateway.md); anything else is a difference. */
function toKnown(apollo: FuzzAnswer | string, trestle: FuzzAnswer | string, { hasInterfaceObject, isConditional }: Circumstances): Verdict {
  if (typeof apollo !== 'string' && typeof trestle !== 'string') {
    const hasEqualData = JSON.stringify(sort(apollo.data)) === JSON.stringify(sort(trestle.data));
    // It counts entities that it does not request, so errors have the index of another element of a list.
    if (lacksOnly(apollo.data, trestle.data, (value) => holdsEmpty(value, isConditional)))
      return { kind: 'known', fault: 'null for an object whose fields are all left out' };
    if (hasInterfaceObject && lacksOnly(apollo.data, trestle.data, () => true, trestle.errors.length > 0))
      return { kind: 'known', fault: 'fields of an interface object vanish' };
    if (hasEqualData && withoutIndices(apollo.errors).join() === withoutIndices(trestle.errors).join())
      return { kind: 'known', fault: 'index of an error' };
  }
  return { kind: 'different', apollo, trestle };
}

/**
 * Whether `less` equals `more` except for values that are missing or null in it, each of which `mayLack` accepts. A required field that is missing
 * did not make its object null, as it did in the other (`isNulled`).
 */
function lacksOnly(less: unknown, more: unknown, mayLack: (value: unknown) => boolean, isNulled = false): boolean {
  if (more === null && isNulled) return true;
  if (less === null || less === undefined) return more === null || mayLack(more);
  if (Array.isArray(less) && Array.isArray(more))
    return less.length === more.length && less.every((each, i) => lacksOnly(each, more[i], mayLack, isNulled));
  if (typeof less !== 'object' || typeof more !== 'object' || more === null) return less === more;
  const [fewer, all] = [less as Record<string, unknown>, more as Record<string, unknown>];
  return (
    Object.keys(fewer).every((key) => key in all) &&
    Object.entries(all).every(([key, value]) => lacksOnly(fewer[key], value, mayLack, isNulled))
  );
}

/**
 * Whether a value contains an object without fields, or with `withLists` an empty list. In the other response a null in its place may have been
 * propagated.
 */
function holdsEmpty(value: unknown, withLists: boolean): boolean {
  if (typeof value !== 'object' || value === null) return false;
  const values = Object.values(value);
  return values.length === 0 ? withLists || !Array.isArray(value) : values.some((each) => holdsEmpty(each, withLists));
}

async function attempt(engine: FuzzEngine, operation: FuzzOperation): Promise<FuzzAnswer | string> {
  try {
    return await engine.run(operation);
  } catch (error) {
    return error instanceof Error ? (error.stack ?? error.message) : String(error);
  }
}

/** The order of a response's fields matters; the order of fields in a custom scalar does not. */
function sort(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sort);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value)
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([key, each]) => [key, sort(each)]),
  );
}

function describe(verdict: Verdict): string {
  if (verdict.kind !== 'different') return verdict.kind;
  const write = (answer: FuzzAnswer | string) => (typeof answer === 'string' ? answer : JSON.stringify(answer));
  return `apollo:  ${write(verdict.apollo)}\ntrestle: ${write(verdict.trestle)}`;
}

/** Returns a failure as text, with all that is needed to reproduce it. */
export function writeFailure({ seed, supergraph, operation, difference }: FuzzFailure): string {
  const sdls = supergraph.subgraphs.map(({ name, sdl }) => `# ${name}\n${sdl.split('\n').slice(1).join('\n')}`).join('\n');
  return `seed ${seed}\n${sdls}\n\n${operation.query}\n${JSON.stringify(operation.variables)}\n${difference}`;
}
