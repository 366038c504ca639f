/** Makes calls of every root field of a schema, in each of which one argument or input field has a nasty value. No I/O. */
import {
  type GraphQLField,
  type GraphQLInputType,
  type GraphQLSchema,
  getNamedType,
  getNullableType,
  isCompositeType,
  isEnumType,
  isInputObjectType,
  isListType,
  isNonNullType,
} from 'graphql';
import { nastyValuesOf } from './nasty-values.ts';

export interface ArgumentCase {
  readonly kind: 'query' | 'mutation';
  readonly field: GraphQLField<unknown, unknown>;
  readonly args: Readonly<Record<string, unknown>>;
  /** The argument or input field, and its value. */
  readonly about: string;
}

/** Gives an ordinary value for an argument or input field, by its name and the field that takes it. */
type Ordinary = (name: string, type: string, field: string) => unknown;

/** Returns a case for every place and value. */
export function argumentCases(schema: GraphQLSchema, ordinary: Ordinary): ArgumentCase[] {
  const cases: ArgumentCase[] = [];
  for (const kind of ['query', 'mutation'] as const) {
    const root = kind === 'query' ? schema.getQueryType() : schema.getMutationType();
    for (const field of Object.values(root?.getFields() ?? {})) {
      if (field.name.startsWith('_')) continue;
      const usual = ordinaryOf(field.args, { ordinary, field: field.name });
      for (const { name, type } of field.args)
        for (const { value, about } of nastyInputs(type, { name, field: field.name, ordinary, depth: 0 }))
          cases.push({ kind, field, args: { ...usual, [name]: value }, about: `${field.name}(${name}${about})` });
    }
  }
  return cases;
}

/** The selection of a result: its type, or nothing for a scalar. */
export function selectionOf({ type }: GraphQLField<unknown, unknown>): string {
  const named = getNamedType(type);
  if (!isCompositeType(named)) return '';
  return named.name.endsWith('Connection') ? '{ totalCount edges { cursor } }' : '{ __typename }';
}

interface Members {
  readonly name: string;
  readonly type: GraphQLInputType;
}

interface Place {
  readonly name: string;
  readonly field: string;
  readonly ordinary: Ordinary;
  readonly depth: number;
}

/** Required members only: they must be there for the others to be looked at. */
function ordinaryOf(members: readonly Members[], { ordinary, field }: Pick<Place, 'ordinary' | 'field'>): Record<string, unknown> {
  return Object.fromEntries(
    members.filter(({ type }) => isNonNullType(type)).map(({ name, type }) => [name, ordinaryValue(type, { name, ordinary, field })]),
  );
}

function ordinaryValue(type: GraphQLInputType, { name, ordinary, field }: Omit<Place, 'depth'>): unknown {
  const nullable = getNullableType(type);
  if (isListType(nullable)) return [ordinaryValue(nullable.ofType, { name, ordinary, field })];
  if (isEnumType(nullable)) return nullable.getValues()[0]?.name;
  if (isInputObjectType(nullable)) return ordinaryOf(Object.values(nullable.getFields()), { ordinary, field });
  return ordinary(name, nullable.name, field);
}

function nastyInputs(type: GraphQLInputType, place: Place): { value: unknown; about: string }[] {
  const nullable = getNullableType(type);
  const say = (value: unknown) => ({ value, about: `: ${JSON.stringify(value).slice(0, 60)}` });
  if (isListType(nullable)) {
    const items = nastyInputs(nullable.ofType, place);
    const usual = ordinaryValue(nullable.ofType, place);
    return [
      ...items.map(({ value, about }) => ({ value: [value], about })),
      say([]),
      say([null]),
      say(Array.from({ length: 101 }, () => usual)),
    ];
  }
  if (isEnumType(nullable)) return [...nullable.getValues().map(({ name }) => say(name)), say('__proto__'), say(1), say(null)];
  if (!isInputObjectType(nullable)) return nastyValuesOf(nullable.name).map(say);
  if (place.depth > 2) return [];
  const fields = Object.values(nullable.getFields());
  const usual = ordinaryOf(fields, place);
  const inner = fields.flatMap(({ name, type: below }) =>
    nastyInputs(below, { ...place, name, depth: place.depth + 1 }).map(({ value, about }) => ({
      value: { ...usual, [name]: value },
      about: `.${name}${about}`,
    })),
  );
  return [...inner, say({}), say(null), say(JSON.parse('{"__proto__":{"id":"x"}}'))];
}
