/**
 * Generates the cost of a field's arguments (IBM cost specification): `@cost` on an argument, on a field of an input object, or on a leaf's type.
 * Without it an input object costs 1 and a leaf 0. Only values that the operation gives count, each element of a list; null costs nothing.
 */
import {
  type ArgumentNode,
  type ConstDirectiveNode,
  type GraphQLInputType,
  type GraphQLSchema,
  Kind,
  type ValueNode,
  getNamedType,
  getNullableType,
  isInputObjectType,
  isInterfaceType,
  isListType,
  isObjectType,
} from 'graphql';
import { read } from './literals.ts';

export interface InputCost {
  /** Numbers and expressions over `vars`, to be summed. */
  ofArguments(field: { readonly type: string; readonly field: string }, given: readonly ArgumentNode[]): string[];
  /** Declarations that the expressions use; complete when all expressions have been generated. */
  declarations(): string;
}

/** `weightOf` reads a `@cost`. */
export function createInputCost(
  schema: GraphQLSchema,
  weightOf: (directives: readonly ConstDirectiveNode[]) => number | undefined,
): InputCost {
  const functions = new Map<string, string>();
  const ownWeight = (type: GraphQLInputType, directives: readonly ConstDirectiveNode[] = []) =>
    weightOf(directives) ?? weightOfType(type, weightOf);
  /** The expression for a value that is known only when the operation runs. */
  const ofOpen = (value: string, type: GraphQLInputType, weight: number): string => {
    const named = getNamedType(type);
    const inner = isInputObjectType(named) ? functionOf(named.name) : undefined;
    if (inner === undefined && weight === 0) return '0';
    return isListType(getNullableType(type)) || inner !== undefined
      ? `input(${value},${String(weight)}${inner === undefined ? '' : `,${inner}`})`
      : `(${value}==null?0:${String(weight)})`;
  };
  const functionOf = (name: string): string | undefined => {
    const type = schema.getType(name);
    if (!isInputObjectType(type)) return undefined;
    const known = `i_${name}`;
    if (functions.has(name)) return known;
    // Before its fields are described: an input type may refer to itself.
    functions.set(name, '');
    const terms = Object.values(type.getFields())
      .map((field) => ofOpen(read('o', field.name), field.type, ownWeight(field.type, field.astNode?.directives)))
      .filter((term) => term !== '0');
    functions.set(name, `function ${known}(o){return ${terms.join('+') || '0'};}`);
    return known;
  };
  const ofValue = (value: ValueNode, type: GraphQLInputType, weight: number): string[] => {
    if (value.kind === Kind.VARIABLE) return [ofOpen(read('vars', value.name.value), type, weight)];
    if (value.kind === Kind.NULL) return [];
    if (value.kind === Kind.LIST) {
      const nullable = getNullableType(type);
      // A custom scalar may be written as a list; it is one value.
      if (!isListType(nullable)) return [String(weight)];
      return value.values.flatMap((each) => ofValue(each, nullable.ofType, weight));
    }
    const named = getNamedType(type);
    if (value.kind !== Kind.OBJECT || !isInputObjectType(named)) return [String(weight)];
    const fields = named.getFields();
    const within = value.fields.flatMap(({ name, value: inner }) => {
      const field = fields[name.value];
      return field ? ofValue(inner, field.type, ownWeight(field.type, field.astNode?.directives)) : [];
    });
    return [String(weight), ...within];
  };

  return {
    ofArguments({ type, field }, given) {
      const parent = schema.getType(type);
      const args = isObjectType(parent) || isInterfaceType(parent) ? (parent.getFields()[field]?.args ?? []) : [];
      return given.flatMap(({ name, value }) => {
        const argument = args.find((each) => each.name === name.value);
        return argument ? ofValue(value, argument.type, ownWeight(argument.type, argument.astNode?.directives)) : [];
      });
    },
    declarations: () => INPUT + [...functions.values()].join(''),
  };
}

/** Returns the weight of a value of a type, without the fields in it. */
function weightOfType(type: GraphQLInputType, weightOf: (directives: readonly ConstDirectiveNode[]) => number | undefined): number {
  const named = getNamedType(type);
  return weightOf(named.astNode?.directives ?? []) ?? (isInputObjectType(named) ? 1 : 0);
}

const INPUT =
  'function input(v,w,f){if(v==null)return 0;if(Array.isArray(v)){let n=0;for(const x of v)n+=input(x,w,f);return n;}return w+(f!==undefined&&typeof v==="object"?f(v):0);}';
