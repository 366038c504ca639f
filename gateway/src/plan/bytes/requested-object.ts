/** What a fetch requests for the objects at one place of its response. */
import {
  type FieldNode,
  type GraphQLObjectType,
  type GraphQLOutputType,
  type GraphQLSchema,
  Kind,
  type SelectionSetNode,
  getNamedType,
  isAbstractType,
  isCompositeType,
  isObjectType,
  print,
} from 'graphql';
import { isAlways } from '../selections/field-positions.ts';
import { type CollectedField, type Condition, type GuardedSet, type Selections, createSelections } from '../selections/selection.ts';

/** Thrown for an operation that is executed with objects. The message says why. */
export class Unsupported extends Error {}

/** An object type with more possible types than this is not branched on. */
const MAX_CASES = 32;

/** One object type at one place. */
export interface RequestedObject {
  readonly type: GraphQLObjectType;
  /** By response key. */
  readonly fields: Map<string, RequestedField>;
  /** In the order of the request, once it is arranged. */
  items: readonly RequestedItem[];
}

export interface RequestedField {
  readonly key: string;
  readonly name: string;
  /** Its selections, which have the same arguments. */
  readonly nodes: readonly [FieldNode, ...FieldNode[]];
  /** Undefined for `__typename`. That of the client's schema for a field that the client selects. */
  type: GraphQLOutputType | undefined;
  /** The conditions under which the response has the field. */
  readonly when: readonly Condition[];
  /** Its objects: one for an object type, one for each possible type of an abstract type; none for a leaf. */
  cases: readonly RequestedObject[];
  readonly isAbstract: boolean;
  /** The number of the register for the place of its value, where a representation needs it. */
  register: number | undefined;
  /** Whether null is refused although the type allows it. */
  isNeverNull: boolean;
}

export type RequestedItem =
  | {
      readonly kind: 'field';
      readonly field: RequestedField;
      readonly isKept: boolean;
      readonly keptWhen: readonly Condition[];
      /** What the client selects by it; undefined when it is not part of the response. */
      readonly selected: CollectedField | undefined;
    }
  /** The fields of another fetch go here. */
  | { readonly kind: 'hole'; readonly hole: RequestedHole }
  /** The next part of the object begins. */
  | { readonly kind: 'part' }
  /** The name of the type, which the response has at another position. */
  | { readonly kind: 'typename'; readonly key: string; readonly keptWhen: readonly Condition[] };

export interface RequestedHole {
  /** Its index among all holes of the operation. */
  readonly number: number;
  /** The register with its place in the tape. */
  readonly register: number;
  /** The register of the hole in the same object that has the key; undefined for a hole that has a key itself. */
  readonly first: number | undefined;
  /** The registers with the places of the values of its key. */
  readonly registers: readonly number[];
}

/** Reads the selection sets of one fetch's document. */
export class RequestedReader {
  readonly #schema: GraphQLSchema;
  readonly #selections: Selections;

  /** `schema` is that of the whole supergraph. */
  constructor(schema: GraphQLSchema) {
    this.#schema = schema;
    this.#selections = createSelections(schema, new Map());
  }

  /** Throws Unsupported. */
  read(type: GraphQLObjectType, sets: readonly GuardedSet[]): RequestedObject {
    const fields = new Map<string, RequestedField>();
    for (const { key, name, type: fieldType, when, sets: below, nodes } of this.#selections.collect(type, sets)) {
      if (new Set(nodes.map(describeDirectives)).size > 1) throw new Unsupported('a field with different directives');
      if (!fieldType && name !== '__typename') throw new Unsupported('a field is not in the schema');
      const named = fieldType && getNamedType(fieldType);
      const isComposite = named !== undefined && isCompositeType(named);
      fields.set(key, {
        key,
        name,
        nodes: nodes as [FieldNode, ...FieldNode[]],
        type: fieldType,
        when: toConjunction(when),
        cases: isComposite ? this.#readCases(named.name, below) : [],
        isAbstract: isComposite && isAbstractType(named),
        register: undefined,
        isNeverNull: false,
      });
    }
    return { type, fields, items: [] };
  }

  #readCases(name: string, sets: readonly GuardedSet[]): RequestedObject[] {
    const type = this.#schema.getType(name);
    if (isObjectType(type)) return [this.read(type, sets)];
    const types = isAbstractType(type) ? this.#schema.getPossibleTypes(type) : [];
    // An interface that only interface objects implement: its objects have no type to branch on.
    if (types.length === 0) throw new Unsupported('an abstract type without object types');
    if (types.length > MAX_CASES) throw new Unsupported('an abstract type has very many types');
    const cases = types.map((each) => this.read(each, sets));
    for (const { fields } of cases) if (!hasPlainTypename(fields)) throw new Unsupported('an object of an abstract type without its type');
    return cases;
  }
}

/** Returns the conditions of a field that is selected under the same conditions everywhere. Throws Unsupported. */
export function toConjunction(when: readonly (readonly Condition[])[]): readonly Condition[] {
  if (isAlways(when)) return [];
  const [first = [], ...others] = when;
  if (others.some((each) => JSON.stringify(each) !== JSON.stringify(first))) throw new Unsupported('a field with alternative conditions');
  return first;
}

/** Returns the directives of a field, except `@skip` and `@include`, as a string. */
function describeDirectives({ directives = [] }: FieldNode): string {
  return directives
    .filter(({ name }) => name.value !== 'skip' && name.value !== 'include')
    .map((each) => print(each))
    .join(' ');
}

/** Whether the name of the type is requested without an alias and without a condition. */
function hasPlainTypename(fields: ReadonlyMap<string, RequestedField>): boolean {
  const field = fields.get('__typename');
  return field?.name === '__typename' && field.when.length === 0;
}

/** Returns the type conditions in a selection set without those of nested fields. */
export function conditionsIn(set: SelectionSetNode): string[] {
  return set.selections.flatMap((each) => {
    if (each.kind !== Kind.INLINE_FRAGMENT) return [];
    return [...(each.typeCondition ? [each.typeCondition.name.value] : []), ...conditionsIn(each.selectionSet)];
  });
}
