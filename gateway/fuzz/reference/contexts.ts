/**
 * Generates subgraphs with contextual arguments (`@context`, `@fromContext`), and says which value each argument has: that of the nearest object around
 * the field whose type sets the context.
 */
import type { Random } from '../random.ts';
import { type ContextualArgument, LINK, type World, composeWorld } from './world.ts';

/** An object of the reference, and the object around it in the result. */
export interface Placed {
  readonly __typename: string;
  readonly within?: Placed;
}

/** Returns the nearest object around the one that has the field whose type sets the context. */
export function findSetter<T extends Placed>(source: T, { setters }: ContextualArgument): T | undefined {
  let at = source.within as T | undefined;
  while (at && !setters.has(at.__typename)) at = at.within as T | undefined;
  return at;
}

const LINK_OF_CONTEXTS = LINK.replace('import: [', 'import: ["@context","@fromContext",');
const SHARED = 'enum Color { RED GREEN BLUE } scalar Any input Filter { a: Int } type Value @shareable { x: Int y: String! z: [Int!] }';
/** Fields whose values are in contexts: the type, the selection set of an object, and the type of the argument. */
const VALUES = [
  ['Int', '', 'Int'],
  ['String!', '', 'String'],
  ['String', '', 'String'],
  ['[Int!]', '', '[Int]'],
  ['[String]!', '', '[String]'],
  ['Float', '', 'Float'],
  ['Boolean', '', 'Boolean'],
  ['Color', '', 'Color'],
  ['ID', '', 'ID'],
  ['Any', '', 'Any'],
  ['Value', '{ x }', 'Int'],
  ['Value!', '{ y }', 'String'],
  ['Value', '{ z }', '[Int]'],
] as const;
const RESULTS = ['Int', 'String', 'String', '[Int!]', 'Boolean!', 'Value', 'Value!', '[Value!]'];
const WRAPS = ['T', 'T', 'T!', '[T!]', '[T]!', '[[T]!]'];

interface Value {
  readonly name: string;
  readonly type: string;
  readonly selection: string;
  readonly argument: string;
  readonly hasArguments: boolean;
  /** The subgraph that resolves it. */
  readonly owner: string;
}

interface Draft {
  readonly random: Random;
  readonly names: readonly string[];
  /** Entities that root fields return; the others are below them. */
  readonly above: readonly string[];
  readonly below: readonly string[];
  readonly values: readonly Value[];
  readonly candidates: Map<string, readonly string[]>;
  readonly contextual: Map<string, ContextualArgument[]>;
  readonly computed: Map<string, string>;
}

/** The context of one subgraph. */
interface Context {
  readonly subgraph: string;
  /** `union` sets it on a union of the types above, `types` on each of them, `levels` on a type below as well, `query` on the root. */
  readonly on: 'union' | 'types' | 'levels' | 'query';
  readonly setters: readonly string[];
  readonly used: readonly Value[];
  /** The fields that it selects, as `Type.field`. */
  readonly selected: Set<string>;
}

/** Returns undefined when the generated subgraphs do not compose. */
export function generateContextualWorld(random: Random): World | undefined {
  const names = Array.from({ length: 2 + random.upTo(1) }, (_, i) => `s${i}`);
  const above = Array.from({ length: 1 + random.upTo(2) }, (_, i) => `U${i}`);
  const below = Array.from({ length: 1 + random.upTo(1) }, (_, i) => `K${i}`);
  const values = Array.from({ length: 3 }, (_, i): Value => {
    const [type, selection, argument] = random.pick(VALUES);
    return { name: `v${i}`, type, selection, argument, hasArguments: random.chance(0.2), owner: random.pick(names) };
  });
  const draft: Draft = { random, names, above, below, values, candidates: new Map(), contextual: new Map(), computed: new Map() };
  const subgraphs = names.map((name) => ({ name, sdl: writeSubgraph(name, draft) }));
  const fields = [...values.map(({ name }) => name), 'plain'];
  const steady = new Set(['Query', ...above, ...below].flatMap((type) => fields.map((each) => `${type}.${each}`)));
  const { candidates, computed, contextual } = draft;
  if (contextual.size === 0) return undefined;
  try {
    return composeWorld(subgraphs, { products: [], candidates, steady, computed, contextual });
  } catch {
    // Composition fails for some contexts on a union: it reads its own supergraph without them.
    return undefined;
  }
}

function createContext(subgraph: string, { random, above, below, values }: Draft): Context {
  const on = random.pick(['union', 'types', 'types', 'levels', 'query'] as const);
  const setters = on === 'query' ? ['Query'] : on === 'levels' ? [...above, ...below.slice(0, 1)] : above;
  return { subgraph, on, setters, used: random.some(values, 0.8), selected: new Set() };
}

function writeSubgraph(name: string, draft: Draft): string {
  const { random, names, above, below, values } = draft;
  // The first subgraph seldom has contextual arguments, so that values come from elsewhere.
  const context = name !== names[0] || random.chance(0.3) ? createContext(name, draft) : undefined;
  const mark = (isSetter: boolean) => (context && context.selected.size > 0 && isSetter ? '@context(name: "c")' : '');
  const entities = [...above, ...below];
  const contextual = new Map(below.map((type) => [type, context ? writeContextualFields(type, context, draft) : []]));
  const write = (type: string, fields: readonly string[]) => {
    const own = values.filter((value) => value.owner === name || context?.selected.has(`${type}.${value.name}`));
    const isSetter = context?.on !== 'union' && context?.setters.includes(type) === true;
    const key = type === 'Query' ? '' : '@key(fields: "id")';
    return `type ${type} ${key} ${mark(isSetter)} { ${[...own.map((value) => writeValue(value, name)), ...fields].join(' ')} }`;
  };
  const types = entities.map((type) => {
    const lower = `${type.toLowerCase()}${name}`;
    const targets = [...below, ...below, ...above, 'Item', `M${name}`];
    const references = Array.from({ length: 1 + random.upTo(2) }, (_, i) => writeReference(`${type}.${lower}r${i}`, targets, draft));
    const own = contextual.get(type) ?? [];
    const plain = name === names[0] ? ['plain: Int'] : own.some((each) => each.includes('@requires')) ? ['plain: Int @external'] : [];
    return write(type, ['id: ID!', ...references, `${lower}f(n: Int = 2): ${random.pick(RESULTS)}`, ...own, ...plain]);
  });
  const union = `H${name}`;
  const roots = [...above, union].map((type, i) => writeReference(`Query.${name}q${i}`, [type], draft));
  return [
    LINK_OF_CONTEXTS,
    SHARED,
    `union ${union} ${mark(context?.on === 'union')} = ${above.join(' | ')}`,
    `union Item = ${entities.join(' | ')}`,
    `type M${name} { at: Int ${writeReference(`M${name}.m${name}`, below, draft)} }`,
    ...types,
    write('Query', roots),
  ].join('\n');
}

function writeValue({ name, type, hasArguments, owner }: Value, subgraph: string): string {
  return `${name}${hasArguments ? '(n: Int = 1)' : ''}: ${type}${owner === subgraph ? '' : ' @external'}`;
}

/** Writes a field that returns objects of one of these types. */
function writeReference(coordinate: string, targets: readonly string[], { random, above, below, candidates }: Draft): string {
  const target = random.pick(targets);
  if (target.startsWith('H')) candidates.set(coordinate, above);
  if (target === 'Item') candidates.set(coordinate, [...below, ...above]);
  return `${coordinate.split('.')[1] ?? ''}: ${random.pick(WRAPS).replace('T', target)}`;
}

/** Writes the fields of a type that have an argument, or two, from the context. */
function writeContextualFields(type: string, context: Context, draft: Draft): string[] {
  const { random, below, computed, contextual, names } = draft;
  return random.some(context.used, 0.8).map((value) => {
    const field = `${type.toLowerCase()}${context.subgraph}${value.name}`;
    const second = random.chance(0.25) ? random.pick(context.used) : undefined;
    const written = [value, ...(second ? [second] : [])].map((each, i) => writeArgument(`a${i}`, each, { context, random }));
    contextual.set(
      `${type}.${field}`,
      written.map(({ argument }) => argument),
    );
    const args = [...written.map(({ text }) => text), ...(random.chance(0.4) ? ['n: Int = 3'] : [])];
    const isComputed = context.subgraph !== names[0] && random.chance(0.15);
    if (isComputed) computed.set(`${type}.${field}`, '{ plain }');
    const result = isComputed ? 'String' : random.chance(0.2) ? random.pick(below) : random.pick(RESULTS);
    return `${field}(${args.join(', ')}): ${result}${isComputed ? ' @requires(fields: "plain")' : ''}`;
  });
}

function writeArgument(name: string, value: Value, { context, random }: { context: Context; random: Random }) {
  const { used, selected } = context;
  const select = (of: Value) => `{ ${of.name}${of.hasArguments ? '(n: 7)' : ''} ${of.selection} }`;
  const isByType = context.on === 'union' || (context.on !== 'query' && random.chance(0.4));
  const setters = new Map<string, string | undefined>();
  for (const type of context.setters) {
    const one = isByType ? random.pick(used.filter((each) => each.argument === value.argument)) : value;
    // Of a union some types may have no condition, which gives null.
    const isSelected = context.on !== 'union' || type === context.setters[0] || random.chance(0.8);
    setters.set(type, isSelected ? select(one) : undefined);
    if (isSelected) selected.add(`${type}.${one.name}`);
  }
  const conditions = [...setters].flatMap(([type, text]) => (text === undefined ? [] : [`... on ${type} ${text}`]));
  const selection = isByType ? conditions.join(' ') : select(value);
  return { text: `${name}: ${value.argument} @fromContext(field: "$c ${selection}")`, argument: { name, setters } };
}
