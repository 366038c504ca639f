/**
 * Generates the cost of a field's arguments (IBM cost specification): `@cost` on an argument, on a field of an input object, or on a leaf's type.
 * Without it an input object costs 1 and a leaf 0. Only values that the operation gives count, each element of a list; null costs nothing.
 */
import { findField, weightOfInput } from '@trestle/graph-checks/cost-directives';
import {
  type ArgumentNode,
  type GraphQLInputType,
  type GraphQLSchema,
  Kind,
  type ValueNode,
  getNamedType,
  getNullableType,
  isInputObjectType,
  isListType,
} from 'graphql';
import { read } from '../selections/literals.ts';

export interface InputCost {
  /** Numbers and expressions over `vars`, to be summed. */
  ofArguments(field: { readonly type: string; readonly field: string }, given: readonly ArgumentNode[]): string[];
  /** Declarations that the expressions use; complete when all expressions have been generated. */
  declarations(): string;
}

/** Returns what gives the costs of arguments by a supergraph, which has the directives. */
export function createInputCost(schema: GraphQLSchema): InputCost {
  const functions = new Map<string, string>();
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
      .map((field) => ofOpen(read('o', field.name), field.type, weightOfInput(field.type, field.astNode?.directives)))
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
      return field ? ofValue(inner, field.type, weightOfInput(field.type, field.astNode?.directives)) : [];
    });
    return [String(weight), ...within];
  };

  return {
    ofArguments(field, given) {
      const args = findField(schema, field)?.args ?? [];
      return given.flatMap(({ name, value }) => {
        const argument = args.find((each) => each.name === name.value);
        return argument ? ofValue(value, argument.type, weightOfInput(argument.type, argument.astNode?.directives)) : [];
      });
    },
    declarations: () => INPUT + [...functions.values()].join(''),
  };
}

const INPUT =
  'function input(v,w,f){if(v==null)return 0;if(Array.isArray(v)){let n=0;for(const x of v)n+=input(x,w,f);return n;}return w+(f!==undefined&&typeof v==="object"?f(v):0);}';
