/** Parses the filters, sort order and paging of a list; the schema gives their names and types (spec §4.3). No I/O. */
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
import { toUnknownNames } from './field-selection.ts';
import { defaultPaging, parsePaging, toConnectionArguments } from './paging.ts';
import type { Parameters } from './parameters.ts';
import type { ReaderContext, ReaderResult } from './request-reader.ts';
import { parseText } from './values.ts';

/** How a route reads the parameters of its list. */
export interface ListRule {
  /** The GraphQL input type whose fields become query parameters. */
  readonly filter?: string;
  /** The GraphQL enum whose values become the names that `sort` accepts. */
  readonly order?: string;
  /** Additional names of parameters: `{minPrice: 'price_gte'}`. */
  readonly aliases?: Readonly<Record<string, string>>;
  /** Fields of the filter whose values come from the path, and which are not parameters. */
  readonly without?: readonly string[];
  /** How many items the list may skip. Default: 1,000,000. */
  readonly maxOffset?: number;
}

/** A query parameter and the field of the filter that it sets. */
export interface Filter {
  readonly parameter: string;
  readonly field: string;
  readonly type: GraphQLInputType;
  readonly description: string | undefined;
}

/** Creates the parser of a list's parameters. Throws an Error when the schema lacks a type that the rule names. */
export function createListParser(
  { schema, version }: ReaderContext,
  rule: ListRule,
): (query: Parameters, faults: FieldFault[]) => ReaderResult {
  const filters = toFilters(schema, rule);
  const sorts = toSortFields(schema, rule);
  const fallback = defaultPaging(version);
  return (query, faults) => {
    const filter: Record<string, unknown> = {};
    const sentAs = new Map<string, string>();
    for (const { parameter, field, type } of filters) {
      const text = isListType(getNullableType(type)) ? query.takeList(parameter)?.join(',') : query.take(parameter);
      if (text === undefined) continue;
      const other = sentAs.get(field);
      if (other !== undefined) faults.push({ field: parameter, message: `cannot be combined with ${other}` });
      sentAs.set(field, parameter);
      const parsed = parseText(type, text);
      if ('fault' in parsed) faults.push({ field: parameter, message: parsed.fault });
      else filter[field] = parsed.value;
    }
    const orderBy = sorts.size > 0 ? parseSort(query, { sorts, faults }) : undefined;
    const paging = parsePaging(query, { faults, fallback, maxOffset: rule.maxOffset });
    return { paging, variables: { ...(rule.filter && { filter }), ...(orderBy && { orderBy }), ...toConnectionArguments(paging) } };
  };
}

/** Parses `sort=-createdAt,name`, or `sort=createdAt&order=desc` (spec §4.3). Drops a field that is named again, which has no effect. */
function parseSort(
  query: Parameters,
  { sorts, faults }: { sorts: ReadonlyMap<string, string>; faults: FieldFault[] },
): object[] | undefined {
  const sort = query.takeList('sort');
  const order = query.take('order');
  if (order !== undefined && !['asc', 'desc'].includes(order)) faults.push({ field: 'order', message: 'must be asc or desc' });
  if (sort === undefined) {
    if (order !== undefined) faults.push({ field: 'order', message: 'requires sort' });
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
    faults.push({ field: 'sort', message: 'must not contain a minus sign together with order' });
  if (unknown > 0) faults.push({ field: 'sort', message: toUnknownNames(unknown, [...sorts.keys()]) });
  return [...steps.values()];
}

/** Returns the filter parameters of a list: `ageGte` is named `age_gte`, `search` is `q`, `searchIn` is `in`; aliases are added. */
export function toFilters(schema: GraphQLSchema, { filter, aliases = {}, without = [] }: ListRule): Filter[] {
  if (filter === undefined) return [];
  const own = Object.values(requireInput(schema, filter).getFields())
    .filter(({ name }) => !without.includes(name))
    .map(({ name, type, description }) => ({ parameter: toParameter(name), field: name, type, description: description ?? undefined }));
  const more = Object.entries(aliases).flatMap(([alias, parameter]) =>
    own.filter((one) => one.parameter === parameter).map((one) => ({ ...one, parameter: alias })),
  );
  return [...own, ...more];
}

/** Returns the sort fields of a list: the names that `sort` accepts, and the enum values that they stand for. */
export function toSortFields(schema: GraphQLSchema, { order }: ListRule): Map<string, string> {
  if (order === undefined) return new Map();
  return new Map(
    requireEnum(schema, order)
      .getValues()
      .map(({ name }) => [toCamelCase(name), name]),
  );
}

/** Returns the query parameter that sets a field of a filter. */
export function toParameter(field: string): string {
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
