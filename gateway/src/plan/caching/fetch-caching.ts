/**
 * Computes how long the result of one fetch may be kept by `@cacheControl`: the minimum over what the fetch selects, with the hint of the entity's type.
 * With a field that has no hint the subgraph must say so too (`Cache-Control`), because a fetch does not show the fields around it.
 */
import {
  type GraphQLNamedType,
  type GraphQLSchema,
  Kind,
  OperationTypeNode,
  type SelectionSetNode,
  getNamedType,
  isAbstractType,
  isCompositeType,
  isInterfaceType,
  isObjectType,
  parse,
} from 'graphql';
import { minOf } from '../../program/cache-rule.ts';
import type { FetchCaching } from '../../program/program.ts';
import { type Hint, type Hints, NO_HINT, createHints } from './cache-control.ts';

/** Returns undefined for a fetch whose result is never kept. */
export type FindFetchCaching = (operation: string) => FetchCaching | undefined;

interface Selected {
  readonly type: GraphQLNamedType | undefined;
  readonly set: SelectionSetNode | undefined;
  /** Whether fields without a hint may be kept as long as the object. */
  readonly isCovered: boolean;
}

/** Creates the function for the whole schema of a supergraph. */
export function createFindFetchCaching(schema: GraphQLSchema): FindFetchCaching {
  const hints = createHints(schema, schema);
  return (operation) => {
    const [definition, ...others] = parse(operation, { noLocation: true }).definitions;
    if (definition?.kind !== Kind.OPERATION_DEFINITION || definition.operation !== OperationTypeNode.QUERY || others.length > 0)
      return undefined;
    const found = new FetchVisit(schema, hints);
    found.visit({ type: schema.getQueryType() ?? undefined, set: definition.selectionSet, isCovered: false });
    return found.result;
  };
}

class FetchVisit {
  readonly #schema: GraphQLSchema;
  readonly #hints: Hints | undefined;
  readonly #types = new Set<string>();
  #maxAge: number | undefined;
  #isPrivate = false;
  /** Whether every field has a hint, or inherits one. */
  #isWhole = true;

  constructor(schema: GraphQLSchema, hints: Hints | undefined) {
    this.#schema = schema;
    this.#hints = hints;
  }

  get result(): FetchCaching | undefined {
    if (this.#maxAge === 0) return undefined;
    const needsHeader = !this.#isWhole || this.#maxAge === undefined;
    return { maxAge: this.#maxAge, needsHeader, isPrivate: this.#isPrivate, types: [...this.#types] };
  }

  visit({ type, set, isCovered }: Selected): void {
    for (const selection of set?.selections ?? []) {
      if (selection.kind === Kind.INLINE_FRAGMENT) {
        const condition = selection.typeCondition?.name.value;
        this.visit({ type: condition === undefined ? type : this.#schema.getType(condition), set: selection.selectionSet, isCovered });
      } else if (selection.kind === Kind.FIELD && selection.name.value === '_entities') this.#visitEntities(selection.selectionSet);
      else if (selection.kind === Kind.FIELD && selection.name.value !== '__typename')
        this.#visitField({ type, set: selection.selectionSet, isCovered }, selection.name.value);
    }
  }

  #visitEntities(set: SelectionSetNode | undefined): void {
    for (const selection of set?.selections ?? []) {
      if (selection.kind !== Kind.INLINE_FRAGMENT) continue;
      const type = this.#schema.getType(selection.typeCondition?.name.value ?? '');
      const hint = (type && this.#hints?.type(type)) ?? NO_HINT;
      this.#add(type, { maxAge: hint.maxAge, isPrivate: hint.isPrivate });
      this.visit({ type, set: selection.selectionSet, isCovered: hint.maxAge !== undefined });
    }
  }

  #visitField(parent: Selected, name: string): void {
    const { type, isCovered } = parent;
    const field = isObjectType(type) || isInterfaceType(type) ? type.getFields()[name] : undefined;
    const named = field && getNamedType(field.type);
    if (!type || !named) {
      this.#isWhole = false;
      return;
    }
    const own = this.#hints?.field(type.name, name) ?? NO_HINT;
    const ofType = this.#hints?.type(named) ?? NO_HINT;
    const isInherited = own.inherits === true && ofType.maxAge === undefined;
    const maxAge = isInherited ? undefined : (own.maxAge ?? ofType.maxAge);
    const inherits = isCovered && (isInherited || ofType.inherits === true || !isCompositeType(named));
    const ofPossible = this.#hintsOfPossible(type, name);
    this.#add(named, {
      maxAge: ofPossible.reduce((least, hint) => minOf(least, hint.maxAge), maxAge),
      isPrivate: (own.isPrivate ?? ofType.isPrivate) === true || ofPossible.some((hint) => hint.isPrivate === true),
    });
    const isKnown = maxAge !== undefined || inherits;
    if (!isKnown) this.#isWhole = false;
    if (isCompositeType(named)) this.visit({ type: named, set: parent.set, isCovered: isKnown });
  }

  /** The fetch does not say which type an object of an interface has: the fields of all of them restrict. */
  #hintsOfPossible(type: GraphQLNamedType, field: string): Hint[] {
    const hints = this.#hints;
    return hints && isInterfaceType(type) ? this.#schema.getPossibleTypes(type).map(({ name }) => hints.field(name, field)) : [];
  }

  #add(type: GraphQLNamedType | undefined, hint: { readonly maxAge: number | undefined; readonly isPrivate: boolean | undefined }): void {
    this.#maxAge = minOf(this.#maxAge, hint.maxAge);
    this.#isPrivate ||= hint.isPrivate === true;
    if (!isCompositeType(type)) return;
    this.#types.add(type.name);
    if (isAbstractType(type)) for (const { name } of this.#schema.getPossibleTypes(type)) this.#types.add(name);
  }
}
