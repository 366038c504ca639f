/** Reads filters, sort and paging of a list from its query string; their names and types come from the schema (spec §4.3). */
import type { FieldFault } from '@trestle/schema/errors';
import {
  type GraphQLEnumType,
  type GraphQLInputObjectType,
  type GraphQLInputType,
  type GraphQLSchema,
  getNullableType,
  isEnumType,
  isInputObjectType,
  isListType,
} from 'graphql';
import type { ReaderContext, Reading } from './reading.ts';
import { defaultPaging, readPaging, toWindow } from './paging.ts';
import type { Parameters } from './parameters.ts';
import { toUnknownNames } from './shape.ts';
import { readText } from './values.ts';

export interface ListRule {
  /** The GraphQL input type whose fields become query parameters. */
  readonly filter?: string;
  /** The GraphQL enum whose values become names for `sort`. */
  readonly order?: string;
  /** Other names for parameters: `{minPrice: 'price_gte'}`. */
  readonly aliases?: Readonly<Record<string, string>>;
  /** Filters that the path already settles. */
  readonly without?: readonly string[];
}

/** A query parameter and the field of the filter that it fills. */
export interface Filter {
  readonly parameter: string;
  readonly field: string;
  readonly type: GraphQLInputType;
  readonly description: string | undefined;
}

/** Throws at start when the schema lacks a type that the row names. */
export function createListReader({ schema, version }: ReaderContext, rule: ListRule): (query: Parameters, faults: FieldFault[]) => Reading {
  const filters = readFilters(schema, rule);
  const sorts = readSorts(schema, rule);
  const fallback = defaultPaging(version);
  return (query, faults) => {
    const filter: Record<string, unknown> = {};
    for (const { parameter, field, type } of filters) {
      const text = isListType(getNullableType(type)) ? query.takeList(parameter)?.join(',') : query.take(parameter);
      if (text === undefined) continue;
      const read = readText(type, text);
      if ('fault' in read) faults.push({ field: parameter, message: read.fault });
      else filter[field] = read.value;
    }
    const orderBy = sorts.size > 0 ? readSort(query, { sorts, faults }) : undefined;
    const paging = readPaging(query, { faults, fallback });
    return { paging, variables: { ...(rule.filter && { filter }), ...(orderBy && { orderBy }), ...toWindow(paging) } };
  };
}

/** `sort=-createdAt,name`, or `sort=createdAt&order=desc` (spec §4.3). A field that is named again has no effect, and is left out. */
function readSort(
  query: Parameters,
  { sorts, faults }: { sorts: ReadonlyMap<string, string>; faults: FieldFault[] },
): object[] | undefined {
  const sort = query.takeList('sort');
  const order = query.take('order');
  if (order !== undefined && !['asc', 'desc'].includes(order)) faults.push({ field: 'order', message: 'must be asc or desc' });
  if (sort === undefined) {
    if (order !== undefined) faults.push({ field: 'order', message: 'goes with sort only' });
    return undefined;
  }
  const steps = new Map<string, object>();
  let unknown = 0;
  for (const part of sort) {
    const minus = part.startsWith('-');
    const field = sorts.get(minus ? part.slice(1) : part);
    if (!field) unknown++;
    else if (!steps.has(field)) steps.set(field, { field, direction: minus || order === 'desc' ? 'DESC' : 'ASC' });
  }
  if (order !== undefined && sort.some((part) => part.startsWith('-')))
    faults.push({ field: 'sort', message: 'takes either order or a minus sign' });
  if (unknown > 0) faults.push({ field: 'sort', message: toUnknownNames(unknown, [...sorts.keys()]) });
  return [...steps.values()];
}

/** `ageGte` is `age_gte`, `search` is `q`, `searchIn` is `in`; an alias stands beside the name it stands for. */
export function readFilters(schema: GraphQLSchema, { filter, aliases = {}, without = [] }: ListRule): Filter[] {
  if (filter === undefined) return [];
  const own = Object.values(requireInput(schema, filter).getFields())
    .filter(({ name }) => !without.includes(name))
    .map(({ name, type, description }) => ({ parameter: toParameter(name), field: name, type, description: description ?? undefined }));
  const more = Object.entries(aliases).flatMap(([alias, parameter]) =>
    own.filter((one) => one.parameter === parameter).map((one) => ({ ...one, parameter: alias })),
  );
  return [...own, ...more];
}

/** What a list can be sorted by: the parameter's names, and the enum's. */
export function readSorts(schema: GraphQLSchema, { order }: ListRule): Map<string, string> {
  if (order === undefined) return new Map();
  return new Map(
    requireEnum(schema, order)
      .getValues()
      .map(({ name }) => [toCamelCase(name), name]),
  );
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
