/** Reads filters, sort and paging of a list from its query string; their names and types come from the schema (spec §4.3). */
import type { FieldFault } from '@trestle/schema/errors';
import {
  type GraphQLEnumType,
  type GraphQLInputObjectType,
  type GraphQLInputType,
  type GraphQLSchema,
  isEnumType,
  isInputObjectType,
} from 'graphql';
import type { Reading } from '../routes/row.ts';
import { readPaging, toWindow } from './paging.ts';
import type { Parameters } from './parameters.ts';
import { readText } from './values.ts';

export interface ListRule {
  readonly filter: string;
  readonly order: string;
  readonly aliases?: Readonly<Record<string, string>>;
  readonly without?: readonly string[];
}

interface Filter {
  readonly parameter: string;
  readonly field: string;
  readonly type: GraphQLInputType;
}

/** Throws at start when the schema lacks a type that the row names. */
export function createListReader(schema: GraphQLSchema, rule: ListRule): (query: Parameters, faults: FieldFault[]) => Reading {
  const filters = readFilters(requireInput(schema, rule.filter), rule);
  const sorts = new Map(
    requireEnum(schema, rule.order)
      .getValues()
      .map(({ name }) => [toCamelCase(name), name]),
  );
  return (query, faults) => {
    const filter: Record<string, unknown> = {};
    for (const { parameter, field, type } of filters) {
      const text = query.take(parameter);
      if (text === undefined) continue;
      const read = readText(type, text);
      if ('fault' in read) faults.push({ field: parameter, message: read.fault });
      else filter[field] = read.value;
    }
    const orderBy = readSort(query, { sorts, faults });
    const paging = readPaging(query, faults);
    return { paging, variables: { filter, ...(orderBy && { orderBy }), ...toWindow(paging) } };
  };
}

/** `sort=-createdAt,name`, or `sort=createdAt&order=desc` (spec §4.3). */
function readSort(
  query: Parameters,
  { sorts, faults }: { sorts: ReadonlyMap<string, string>; faults: FieldFault[] },
): object[] | undefined {
  const sort = query.take('sort');
  const order = query.take('order');
  if (order !== undefined && !['asc', 'desc'].includes(order)) faults.push({ field: 'order', message: 'must be asc or desc' });
  if (sort === undefined) {
    if (order !== undefined) faults.push({ field: 'order', message: 'goes with sort only' });
    return undefined;
  }
  return sort.split(',').flatMap((part) => {
    const minus = part.startsWith('-');
    const field = sorts.get(minus ? part.slice(1) : part);
    if (minus && order !== undefined) faults.push({ field: 'sort', message: 'takes either order or a minus sign' });
    if (!field) faults.push({ field: 'sort', message: `can't sort by that; known are ${[...sorts.keys()].join(', ')}` });
    return field ? [{ field, direction: minus || order === 'desc' ? 'DESC' : 'ASC' }] : [];
  });
}

/** `ageGte` is `age_gte`, `search` is `q`, `searchIn` is `in`; an alias stands beside the name it stands for. */
function readFilters(input: GraphQLInputObjectType, { aliases = {}, without = [] }: ListRule): Filter[] {
  const own = Object.values(input.getFields())
    .filter(({ name }) => !without.includes(name))
    .map(({ name, type }) => ({ parameter: toParameter(name), field: name, type }));
  const more = Object.entries(aliases).flatMap(([alias, parameter]) =>
    own.filter((filter) => filter.parameter === parameter).map((filter) => ({ ...filter, parameter: alias })),
  );
  return [...own, ...more];
}

function toParameter(field: string): string {
  if (field === 'search') return 'q';
  if (field === 'searchIn') return 'in';
  return field.replace(/(Gte|Lte)$/, (suffix) => `_${suffix.toLowerCase()}`);
}

function toCamelCase(name: string): string {
  return name.toLowerCase().replace(/_(\w)/g, (_, letter: string) => letter.toUpperCase());
}

function requireInput(schema: GraphQLSchema, name: string): GraphQLInputObjectType {
  const type = schema.getType(name);
  if (!isInputObjectType(type)) throw new Error(`The schema has no input type ${name}`);
  return type;
}

function requireEnum(schema: GraphQLSchema, name: string): GraphQLEnumType {
  const type = schema.getType(name);
  if (!isEnumType(type)) throw new Error(`The schema has no enum ${name}`);
  return type;
}
