/**
 * Collects the schema coordinates of a valid document as GraphQL Hive's own client does: fields, arguments, input fields, enum values and scalars. An
 * argument or input field that certainly has a value is named a second time, with `!`. What a variable may contain counts as used.
 */
import {
  type DocumentNode,
  type GraphQLEnumType,
  type GraphQLInputType,
  type GraphQLNamedType,
  type GraphQLSchema,
  Kind,
  TypeInfo,
  type ValueNode,
  type VariableDefinitionNode,
  getNamedType,
  isEnumType,
  isInputObjectType,
  typeFromAST,
  isInputType,
  visit,
  visitWithTypeInfo,
} from 'graphql';

/** Returns the coordinates. */
export function collectHiveCoordinates(schema: GraphQLSchema, document: DocumentNode): Set<string> {
  const collector = new Collector(findGivenVariables(document));
  const types = new TypeInfo(schema);
  visit(
    document,
    visitWithTypeInfo(types, {
      VariableDefinition: ({ type, defaultValue }) => {
        const declared = typeFromAST(schema, type as never);
        if (isInputType(declared)) collector.addType(getNamedType(declared));
        if (isInputType(declared) && defaultValue) collector.addValue(declared, defaultValue);
        return false;
      },
      // Arguments of directives are no part of Hive's coordinates.
      Directive: () => false,
      Field: () => {
        const [parent, field] = [types.getParentType(), types.getFieldDef()];
        if (!parent || !field) return;
        collector.add(`${parent.name}.${field.name}`);
        // Each value of the enum may be in the result.
        const type = getNamedType(field.type);
        if (isEnumType(type)) collector.addValues(type);
      },
      Argument: ({ value }) => {
        const [parent, field, argument] = [types.getParentType(), types.getFieldDef(), types.getArgument()];
        if (!parent || !field || !argument) return false;
        collector.addGiven(`${parent.name}.${field.name}.${argument.name}`, value);
        collector.addValue(argument.type, value);
        return false;
      },
    }),
  );
  return collector.coordinates;
}

/** Returns the names of the variables that always have a value. */
function findGivenVariables(document: DocumentNode): Set<string> {
  const definitions = document.definitions.flatMap((definition): readonly VariableDefinitionNode[] =>
    definition.kind === Kind.OPERATION_DEFINITION ? (definition.variableDefinitions ?? []) : [],
  );
  return new Set(definitions.filter(({ type }) => type.kind === Kind.NON_NULL_TYPE).map(({ variable }) => variable.name.value));
}

class Collector {
  readonly coordinates = new Set<string>();
  readonly #givenVariables: ReadonlySet<string>;
  /** Types of which everything was added. */
  readonly #whole = new Set<GraphQLNamedType>();

  constructor(givenVariables: ReadonlySet<string>) {
    this.#givenVariables = givenVariables;
  }

  add(coordinate: string): void {
    this.coordinates.add(coordinate);
  }

  /** Adds an argument or input field. */
  addGiven(coordinate: string, value: ValueNode): void {
    this.add(coordinate);
    const isGiven = value.kind === Kind.VARIABLE ? this.#givenVariables.has(value.name.value) : value.kind !== Kind.NULL;
    if (isGiven) this.add(`${coordinate}!`);
  }

  addValues(type: GraphQLEnumType): void {
    for (const { name } of type.getValues()) this.add(`${type.name}.${name}`);
  }

  /** Adds what a value of a type contains: of a literal what it has, else the whole type. */
  addValue(type: GraphQLInputType, value: ValueNode): void {
    const named = getNamedType(type);
    if (value.kind === Kind.ENUM && isEnumType(named)) this.add(`${named.name}.${value.value}`);
    else if (value.kind === Kind.LIST) for (const item of value.values) this.addValue(type, item);
    else if (value.kind === Kind.OBJECT && isInputObjectType(named)) {
      for (const { name, value: given } of value.fields) {
        const field = named.getFields()[name.value];
        if (!field) continue;
        this.addGiven(`${named.name}.${field.name}`, given);
        this.addValue(field.type, given);
      }
    } else this.addType(named);
  }

  /** Adds everything of a type, and of the types of its fields. */
  addType(type: GraphQLNamedType): void {
    if (this.#whole.has(type)) return;
    this.#whole.add(type);
    if (isEnumType(type)) this.addValues(type);
    else if (isInputObjectType(type)) {
      for (const field of Object.values(type.getFields())) {
        this.add(`${type.name}.${field.name}`);
        this.addType(getNamedType(field.type));
      }
    } else this.add(type.name);
  }
}
