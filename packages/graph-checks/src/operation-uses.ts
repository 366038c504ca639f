/** Collects how a document uses a schema: the keys of use-keys.ts. Fields that the schema does not have are passed over. */
import {
  type ArgumentNode,
  type DirectiveNode,
  type DocumentNode,
  type FieldNode,
  type GraphQLArgument,
  type GraphQLCompositeType,
  type GraphQLInputType,
  type GraphQLNamedType,
  type GraphQLSchema,
  Kind,
  type ObjectValueNode,
  type SelectionSetNode,
  type ValueNode,
  getNamedType,
  isAbstractType,
  isCompositeType,
  isEnumType,
  isInputObjectType,
  isInputType,
  isObjectType,
  isInterfaceType,
  typeFromAST,
} from 'graphql';
import {
  argumentUse,
  directiveUse,
  inputUse,
  memberUse,
  omission,
  outputUse,
  repeatedUse,
  severalFields,
  spreadUse,
  typeUse,
  unknownInput,
  variableInput,
} from './use-keys.ts';

/** The part of a document's walk that stays the same. */
interface Walk {
  readonly schema: GraphQLSchema;
  readonly uses: Set<string>;
  /** Names of variables that a request may leave out. */
  readonly optionalVariables: ReadonlySet<string>;
  /** Names of variables that may be null. */
  readonly nullableVariables: ReadonlySet<string>;
  /** The type conditions of fragments, by their names. */
  readonly conditions: ReadonlyMap<string, string>;
  /** Coordinates that the values of variables were seen to have, or undefined when nobody recorded them. */
  readonly seen: ReadonlySet<string> | undefined;
}

/**
 * Returns the keys of all uses in a document. `seenInputs` are the coordinates of the input fields and enum values that variables and removed
 * literals were seen to have (`ReviewInput.text`, `Order.NEWEST`); undefined means unknown: each may have been given.
 */
export function collectUses(schema: GraphQLSchema, document: DocumentNode, seenInputs?: Iterable<string>): Set<string> {
  const uses = new Set<string>();
  const seen = seenInputs === undefined ? undefined : new Set(seenInputs);
  const walk: Walk = { schema, uses, seen, ...findVariables(document), conditions: findConditions(document) };
  for (const definition of document.definitions) {
    if (definition.kind === Kind.OPERATION_DEFINITION) {
      for (const variable of definition.variableDefinitions ?? []) {
        const type = typeFromAST(schema, variable.type as never);
        if (isInputType(type) && variable.defaultValue) useValue(walk, type, variable.defaultValue);
        useDirectives(walk, variable.directives);
      }
      useDirectives(walk, definition.directives);
      useSelections(walk, schema.getRootType(definition.operation), definition.selectionSet);
    } else if (definition.kind === Kind.FRAGMENT_DEFINITION) {
      useDirectives(walk, definition.directives);
      useSelections(walk, schema.getType(definition.typeCondition.name.value), definition.selectionSet);
    }
  }
  return uses;
}

function findVariables(document: DocumentNode): Pick<Walk, 'optionalVariables' | 'nullableVariables'> {
  const definitions = document.definitions.flatMap((definition) =>
    definition.kind === Kind.OPERATION_DEFINITION ? (definition.variableDefinitions ?? []) : [],
  );
  const nullable = definitions.filter(({ type }) => type.kind !== Kind.NON_NULL_TYPE);
  const optional = nullable.filter(({ defaultValue }) => !defaultValue || defaultValue.kind === Kind.NULL);
  const toNames = (found: typeof definitions) => new Set(found.map(({ variable }) => variable.name.value));
  return { optionalVariables: toNames(optional), nullableVariables: toNames(nullable) };
}

function findConditions({ definitions }: DocumentNode): Map<string, string> {
  return new Map(
    definitions.flatMap((definition) =>
      definition.kind === Kind.FRAGMENT_DEFINITION ? [[definition.name.value, definition.typeCondition.name.value]] : [],
    ),
  );
}

function useSelections(walk: Walk, parent: GraphQLNamedType | null | undefined, { selections }: SelectionSetNode): void {
  if (!isCompositeType(parent)) return;
  walk.uses.add(typeUse(parent.name));
  for (const selection of selections) {
    useDirectives(walk, selection.directives);
    if (selection.kind === Kind.FIELD) useField(walk, parent, selection);
    else if (selection.kind === Kind.FRAGMENT_SPREAD) useSpread(walk, parent, walk.conditions.get(selection.name.value));
    else {
      const condition = selection.typeCondition?.name.value;
      useSpread(walk, parent, condition);
      useSelections(walk, condition === undefined ? parent : walk.schema.getType(condition), selection.selectionSet);
    }
  }
}

function useSpread({ schema, uses }: Walk, parent: GraphQLCompositeType, condition: string | undefined): void {
  const type = condition === undefined ? undefined : schema.getType(condition);
  if (isAbstractType(parent) && isAbstractType(type) && parent !== type) uses.add(spreadUse(parent.name, type.name));
}

function useField(walk: Walk, parent: GraphQLCompositeType, node: FieldNode): void {
  if (!isObjectType(parent) && !isInterfaceType(parent)) return;
  const field = parent.getFields()[node.name.value];
  if (field === undefined) return;
  const coordinate = memberUse(parent.name, field.name);
  const type = getNamedType(field.type);
  walk.uses.add(coordinate).add(typeUse(type.name)).add(outputUse(type.name));
  useArguments(walk, { coordinate, definitions: field.args, nodes: node.arguments ?? [] });
  if (node.selectionSet) useSelections(walk, type, node.selectionSet);
}

interface GivenArguments {
  readonly coordinate: string;
  readonly definitions: readonly GraphQLArgument[];
  readonly nodes: readonly ArgumentNode[];
}

function useArguments(walk: Walk, { coordinate, definitions, nodes }: GivenArguments): void {
  for (const { name, type } of definitions) {
    const given = nodes.find((node) => node.name.value === name)?.value;
    const argument = argumentUse(coordinate, name);
    if (given === undefined || isOptional(walk, given)) walk.uses.add(omission(argument));
    if (given === undefined) continue;
    walk.uses.add(argument);
    useValue(walk, type, given);
  }
}

function useDirectives(walk: Walk, nodes: readonly DirectiveNode[] = []): void {
  for (const [at, node] of nodes.entries()) {
    const coordinate = directiveUse(node.name.value);
    walk.uses.add(coordinate);
    if (nodes.findIndex(({ name }) => name.value === node.name.value) < at) walk.uses.add(repeatedUse(node.name.value));
    const definitions = walk.schema.getDirective(node.name.value)?.args ?? [];
    useArguments(walk, { coordinate, definitions, nodes: node.arguments ?? [] });
  }
}

function isOptional({ optionalVariables }: Walk, value: ValueNode): boolean {
  return value.kind === Kind.VARIABLE && optionalVariables.has(value.name.value);
}

function useValue(walk: Walk, type: GraphQLInputType, value: ValueNode): void {
  const named = getNamedType(type);
  walk.uses.add(inputUse(named.name));
  // Recorded texts have `{}` and `[]` in place of literals, so that these are as unknown as a variable.
  const isRemoved = (value.kind === Kind.OBJECT && value.fields.length === 0) || (value.kind === Kind.LIST && value.values.length === 0);
  if (value.kind === Kind.VARIABLE || isRemoved) useUnknown(walk, named, new Set());
  else if (value.kind === Kind.LIST) for (const item of value.values) useValue(walk, type, item);
  else if (value.kind === Kind.ENUM) walk.uses.add(memberUse(named.name, value.value));
  else if (value.kind === Kind.OBJECT && isInputObjectType(named)) {
    if (!hasOneField(walk, value)) walk.uses.add(severalFields(named.name));
    for (const field of Object.values(named.getFields())) {
      const given = value.fields.find(({ name }) => name.value === field.name)?.value;
      const coordinate = memberUse(named.name, field.name);
      if (given === undefined || isOptional(walk, given)) walk.uses.add(omission(coordinate));
      if (given === undefined) continue;
      walk.uses.add(coordinate);
      useValue(walk, field.type, given);
    }
  }
}

/** Returns whether a literal has exactly one field, which has a value in every request. */
function hasOneField({ nullableVariables }: Walk, { fields: [field, ...others] }: ObjectValueNode): boolean {
  if (!field || others.length > 0) return false;
  const { value } = field;
  return value.kind !== Kind.NULL && !(value.kind === Kind.VARIABLE && nullableVariables.has(value.name.value));
}

/** Adds what a value that is not in the text may contain: everything, or what was seen. */
function useUnknown(walk: Walk, type: GraphQLNamedType, visited: Set<GraphQLNamedType>): void {
  if (visited.has(type)) return;
  visited.add(type);
  const { uses, seen } = walk;
  uses.add(inputUse(type.name));
  if (isEnumType(type)) {
    if (seen === undefined) uses.add(unknownInput(type.name));
    else for (const { name } of type.getValues()) addSeen(walk, memberUse(type.name, name));
  } else if (isInputObjectType(type)) {
    uses.add(variableInput(type.name));
    if (seen === undefined) uses.add(unknownInput(type.name));
    for (const field of Object.values(type.getFields())) {
      const coordinate = memberUse(type.name, field.name);
      addSeen(walk, coordinate);
      // A field that was never given brings none of its own fields.
      if (seen === undefined || seen.has(coordinate)) useUnknown(walk, getNamedType(field.type), visited);
    }
  }
}

function addSeen({ uses, seen }: Walk, coordinate: string): void {
  if (seen?.has(coordinate)) uses.add(coordinate);
}
