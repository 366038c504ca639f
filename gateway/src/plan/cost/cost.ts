/**
 * Generates the estimated cost of an operation as an expression over its variables, by the IBM cost specification: `@cost` gives
 * the weight of a field, a type or an argument (input-cost.ts), `@listSize` the length of a list. Without them an object costs 1, a leaf 0, and a
 * mutation 10 more.
 */
import {
  ASSUMED_LIST_SIZE,
  baseCost,
  boundsOf,
  findField,
  findListSize,
  sizesWithin,
  weightOfField,
  weightOfObject,
} from '@trestle/graph-checks/cost-directives';
import {
  type GraphQLCompositeType,
  type GraphQLNamedType,
  type GraphQLSchema,
  getNamedType,
  getNullableType,
  isAbstractType,
  isCompositeType,
  isListType,
} from 'graphql';
import { conditionOf } from '../selections/field-positions.ts';
import type { AssumedSizeOf } from './assumed-sizes.ts';
import { createInputCost } from './input-cost.ts';
import { SIZE, sizeOf } from './list-size.ts';
import { OWN, quote, read } from '../selections/literals.ts';
import { type CollectedField, type GuardedSet, type Selections, createKeys } from '../selections/selection.ts';

export interface CostInput {
  /** The schema that clients see, and the supergraph's own, which has the directives. */
  readonly schema: GraphQLSchema;
  readonly supergraph: GraphQLSchema;
  readonly root: GraphQLCompositeType;
  readonly sets: readonly GuardedSet[];
  readonly selections: Selections;
}

/** Selections of an object, the sizes that its field gives to lists in it, and whether the cost has the weight of the object's type. */
interface Weighed {
  readonly guarded: readonly GuardedSet[];
  readonly sized: ReadonlyMap<string, string>;
  readonly isWeighed: boolean;
}

/** Returns an expression of type `Compiled['cost']`; `introspection` is the cost of `__schema` and `__type`, `assumedSizeOf` by default 10 for each list. */
export function generateCost({
  schema,
  supergraph,
  root,
  sets,
  selections,
  introspection,
  assumedSizeOf = () => ASSUMED_LIST_SIZE,
}: CostInput & { readonly introspection: number; readonly assumedSizeOf?: AssumedSizeOf }): string {
  const inputs = createInputCost(supergraph);
  const functions: string[] = [];
  const known = new Map<string, string>();
  const keyOf = createKeys();
  /** Each type and selection is written once; otherwise the code would grow exponentially with abstract types in abstract types. */
  const ofSets = (type: GraphQLCompositeType, { guarded, sized, isWeighed }: Weighed): string => {
    const key = `${type.name}|${keyOf(guarded)}|${[...sized].join()}|${String(isWeighed)}`;
    const before = known.get(key);
    if (before !== undefined) return before;
    const text = writeSets(type, { guarded, sized, isWeighed });
    const name = `k${String(known.size)}`;
    if (text.length > LONGEST_INLINE) functions.push(`const ${name}=vars=>${text};`);
    known.set(key, text.length > LONGEST_INLINE ? `${name}(vars)` : text);
    return known.get(key) ?? text;
  };
  const writeSets = (type: GraphQLCompositeType, { guarded, sized, isWeighed }: Weighed): string => {
    // The cost of an object of an abstract type is the highest cost of its object types.
    const types = isAbstractType(type) ? schema.getPossibleTypes(type) : [type];
    const ofType = (each: GraphQLCompositeType) => [
      String(isWeighed ? weightOfObject(supergraph, each.name) : 0),
      ...selections.collect(each, guarded).map((field) => ofField(each, field, sized)),
    ];
    const sums = [...new Set(types.map((each) => sum(ofType(each))))];
    return sums.length === 1 ? (sums[0] ?? '0') : `Math.max(${sums.join(',') || '0'})`;
  };
  const ofField = (parent: GraphQLNamedType, field: CollectedField, sizedByParent: ReadonlyMap<string, string>): string => {
    if (!field.type) return '0';
    const named = getNamedType(field.type);
    const name = { type: parent.name, field: field.name };
    const listSize = findListSize(findField(supergraph, name)?.astNode?.directives ?? []);
    const given = field.nodes[0]?.arguments ?? [];
    const isList = isListType(getNullableType(field.type));
    const assumed = assumedSizeOf(name);
    const size = sizeOf({ listSize, assumed }, given, boundsOf(schema, name, listSize));
    const sized = sizesWithin({ listSize, size, isList }, String(assumed));
    const weight = weightOfField(supergraph, name, field.type);
    const inner = { guarded: field.sets, sized, isWeighed: weight === undefined };
    const one = sum([String(weight ?? 0), isCompositeType(named) ? ofSets(named, inner) : '0']);
    const all = isList ? product(sizedByParent.get(field.name) ?? size ?? String(assumed), one) : one;
    // Arguments are given once, however long the list is.
    return sum([...inputs.ofArguments(name, given), all]);
  };
  const total = sum([
    String(baseCost(schema, root.name) + introspection),
    ofSets(root, { guarded: sets, sized: new Map(), isWeighed: false }),
  ]);
  return `(()=>{${SIZE}${inputs.declarations()}${functions.join('')}return vars=>${total};})()`;
}

/** Expressions with more characters than this become functions, so that they are not repeated. */
const LONGEST_INLINE = 200;

/** What a selected field costs in a result. */
export interface FieldCost {
  /** For each object, beside that of its type; for a leaf once, unless it is null. */
  readonly weight: number;
  /** Returns the weight of an object of a type; undefined where {@link weight} has it. */
  readonly ofObject?: ((type: string) => number) | undefined;
  /** An expression over `vars`: the cost of its arguments, once for each object that has the field. */
  readonly args: string;
}

export interface FieldCosts {
  of(parent: string, field: Pick<CollectedField, 'name' | 'type' | 'nodes'>): FieldCost;
  /** Declarations that the expressions use; complete when all have been generated. */
  declarations(): string;
}

/** Returns what gives the actual costs of fields. */
export function createFieldCosts(supergraph: GraphQLSchema): FieldCosts {
  const inputs = createInputCost(supergraph);
  return {
    of(parent, { name, type, nodes }) {
      if (!type) return { weight: 0, args: '0' };
      const field = { type: parent, field: name };
      const weight = weightOfField(supergraph, field, type);
      const ofObject = weight === undefined ? (object: string) => weightOfObject(supergraph, object) : undefined;
      return { weight: weight ?? 0, ofObject, args: sum(inputs.ofArguments(field, nodes[0]?.arguments ?? [])) };
    },
    declarations: () => inputs.declarations(),
  };
}

/** Returns an expression of type `Compiled['actualCost']`: the same weights, applied to the objects of a response. */
export function generateActualCost({ schema, supergraph, root, sets, selections }: CostInput): string {
  const costs = createFieldCosts(supergraph);
  const functions: string[] = [];
  const written = new Map<string, string>();
  const keyOf = createKeys();
  const writeObject = (type: GraphQLCompositeType, guarded: readonly GuardedSet[], ofObject?: FieldCost['ofObject']): string => {
    const key = `${type.name}|${keyOf(guarded)}|${ofObject ? 'weighed' : ''}`;
    const known = written.get(key);
    if (known !== undefined) return known;
    const name = `c${written.size}`;
    written.set(key, name);
    if (isAbstractType(type)) {
      const weigh = (name: string) => (ofObject ? `${String(ofObject(name))}+` : '');
      const cases = schema
        .getPossibleTypes(type)
        .map((each) => `case ${quote(each.name)}:return ${weigh(each.name)}${writeObject(each, guarded)}(o);`);
      functions.push(`function ${name}(o){switch(o.__typename){${cases.join('')}}return 0;}`);
      return name;
    }
    const terms = selections.collect(type, guarded).flatMap((field) => {
      if (!field.type) return [];
      const named = getNamedType(field.type);
      const { weight, ofObject, args: given } = costs.of(type.name, field);
      const value = read('o', field.key);
      const terms = given === '0' ? [] : [`(${value}===undefined?0:${given})`];
      if (isCompositeType(named)) terms.push(`each(${value},${weight},${writeObject(named, field.sets, ofObject)})`);
      else if (weight !== 0) terms.push(`(${value}==null?0:${weight})`);
      // The data may have a field that the result has not, because another subgraph requires it.
      const when = conditionOf(field.when);
      return terms.length === 0 || when === '' ? terms : [`(${when}?${terms.join('+')}:0)`];
    });
    functions.push(`function ${name}(o){return ${terms.join('+') || '0'};}`);
    return name;
  };
  const top = writeObject(root, sets);
  return `(()=>{let vars;${EACH}${costs.declarations()}${functions.join('')}return (data,given)=>{vars=given;return ${baseCost(schema, root.name)}+${top}(data);};})()`;
}

const EACH = `${OWN}function each(v,w,f){if(v==null)return 0;if(Array.isArray(v)){let n=0;for(const x of v)n+=each(x,w,f);return n;}return typeof v==='object'?w+f(v):0;}`;

function sum(terms: readonly string[]): string {
  const fixed = terms.map(Number).filter((term) => !Number.isNaN(term));
  const open = terms.filter((term) => Number.isNaN(Number(term)));
  const total = fixed.reduce((a, b) => a + b, 0);
  return open.length === 0 ? String(total) : `(${[...(total === 0 ? [] : [String(total)]), ...open].join('+')})`;
}

function product(size: string, one: string): string {
  const [a, b] = [Number(size), Number(one)];
  return Number.isNaN(a) || Number.isNaN(b) ? `${size}*${one}` : String(a * b);
}
