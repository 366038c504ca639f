/** Reads what an operation gives to fields, as far as it is known without the values of variables: sizes of lists, and costs of arguments. */
import {
  type ArgumentNode,
  type GraphQLArgument,
  type GraphQLInputType,
  Kind,
  type ValueNode,
  getNamedType,
  getNullableType,
  isInputObjectType,
  isListType,
} from 'graphql';
import { weightOfInput } from './cost-directives.ts';

/** What is known of values. */
export interface GivenValues {
  /** The defaults of variables that have one. */
  readonly defaults: ReadonlyMap<string, ValueNode>;
  /** Whether literals were replaced, so that 0 and an empty list say nothing. */
  readonly isNormalised: boolean;
}

/** Returns the size at a path of arguments and input fields (`page.limit`); undefined when it is unknown, null or negative. */
export function readSize(given: readonly ArgumentNode[], path: string, { defaults, isNormalised }: GivenValues): number | undefined {
  const [name, ...inner] = path.split('.');
  let value: ValueNode | undefined = given.find((argument) => argument.name.value === name)?.value;
  const resolve = () => {
    if (value?.kind === Kind.VARIABLE) value = defaults.get(value.name.value);
  };
  resolve();
  for (const key of inner) {
    value = value?.kind === Kind.OBJECT ? value.fields.find((field) => field.name.value === key)?.value : undefined;
    resolve();
  }
  const size = value?.kind === Kind.INT ? Number(value.value) : NaN;
  return size > 0 || (size === 0 && !isNormalised) ? size : undefined;
}

/** Returns the cost of a field's arguments; `definitions` are those of the supergraph. */
export function costOfArguments(definitions: readonly GraphQLArgument[], given: readonly ArgumentNode[], values: GivenValues): number {
  return given.reduce((sum, { name, value }) => {
    const argument = definitions.find((each) => each.name === name.value);
    return argument ? sum + costOfValue(value, { type: argument.type, weight: weightOfInput(argument.type, argument.astNode?.directives) }, values) : sum; // prettier-ignore
  }, 0);
}

/** An argument, an input field or an element of a list. */
interface Place {
  readonly type: GraphQLInputType;
  readonly weight: number;
}

/** Null costs nothing; what is unknown costs as one value, without what may be in it. */
function costOfValue(given: ValueNode, { type, weight }: Place, values: GivenValues): number {
  const value = given.kind === Kind.VARIABLE ? values.defaults.get(given.name.value) : given;
  if (value?.kind === Kind.NULL) return 0;
  const nullable = getNullableType(type);
  // A custom scalar may be written as a list; it is one value.
  if (value?.kind === Kind.LIST && isListType(nullable)) {
    if (value.values.length === 0) return values.isNormalised ? weight : 0;
    return value.values.reduce((sum, each) => sum + costOfValue(each, { type: nullable.ofType, weight }, values), 0);
  }
  const named = getNamedType(type);
  if (value?.kind !== Kind.OBJECT || !isInputObjectType(named)) return weight;
  const fields = named.getFields();
  return value.fields.reduce((sum, { name, value: inner }) => {
    const field = fields[name.value];
    return field ? sum + costOfValue(inner, { type: field.type, weight: weightOfInput(field.type, field.astNode?.directives) }, values) : sum; // prettier-ignore
  }, weight);
}
