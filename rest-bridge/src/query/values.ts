/** Reads the text of one parameter, or one JSON value, as a value of a GraphQL type. No I/O. */
import {
  type GraphQLInputObjectType,
  type GraphQLInputType,
  type GraphQLNamedInputType,
  getNullableType,
  isEnumType,
  isInputObjectType,
  isListType,
  isNonNullType,
  isRequiredInputField,
} from 'graphql';

/** What was read, or why it could not be. */
export type Read = { readonly value: unknown } | { readonly fault: string };

/** From the year 1 on: ISO 8601 has a year 0, PostgreSQL has none. */
const MOMENT = /^(?!0000)\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(?:\.\d{1,9})?Z$/;
const INT_LIMIT = 2 ** 31;

/** Reads a query parameter: `true`, `42`, `2026-01-31T12:00:00Z`, an enum's value in lower case, or a comma-separated list. */
export function readText(type: GraphQLInputType, text: string): Read {
  const nullable = getNullableType(type);
  if (isListType(nullable)) {
    const items = text.split(',').map((item) => readText(nullable.ofType, item));
    return items.find((item) => 'fault' in item) ?? { value: items.map((item) => ('value' in item ? item.value : undefined)) };
  }
  const named = nullable;
  switch (named.name) {
    case 'Int':
      return /^-?\d{1,10}$/.test(text) ? readInt(Number(text)) : { fault: 'must be a whole number' };
    case 'Boolean':
      return text === 'true' || text === 'false' ? { value: text === 'true' } : { fault: 'must be true or false' };
    default:
      return readJson(type, text);
  }
}

/** Reads a JSON value; `null` passes where the type allows it. */
export function readJson(type: GraphQLInputType, value: unknown): Read {
  if (value === null) return isNonNullType(type) ? { fault: 'must not be null' } : { value };
  const nullable = getNullableType(type);
  if (isListType(nullable)) return readItems(nullable.ofType, value);
  if (isEnumType(nullable)) {
    const found = nullable.getValues().find(({ name }) => name.toLowerCase() === value);
    if (found) return { value: found.name };
    const names = nullable.getValues().map(({ name }) => name.toLowerCase());
    return { fault: `must be one of ${names.join(', ')}` };
  }
  if (isInputObjectType(nullable)) return readObject(nullable, value);
  switch ((nullable as GraphQLNamedInputType).name) {
    case 'Int':
      return typeof value === 'number' ? readInt(value) : { fault: 'must be a whole number' };
    case 'Boolean':
      return typeof value === 'boolean' ? { value } : { fault: 'must be true or false' };
    case 'ID':
      if (typeof value === 'number' && Number.isSafeInteger(value)) return { value: String(value) };
      return typeof value === 'string' && !value.includes('\0') ? { value } : { fault: 'must be an id' };
    case 'DateTime':
      return typeof value === 'string' && MOMENT.test(value) && isDay(value)
        ? { value }
        : { fault: 'must be a moment in UTC such as 2026-01-31T12:00:00Z' };
    default:
      return typeof value === 'string' && !value.includes('\0') ? { value } : { fault: 'must be a text' };
  }
}

function readItems(type: GraphQLInputType, value: unknown): Read {
  if (!Array.isArray(value)) return { fault: 'must be a list' };
  const items = value.map((item) => readJson(type, item));
  return items.find((item) => 'fault' in item) ?? { value: items.map((item) => ('value' in item ? item.value : undefined)) };
}

/** Reads an input within a body; a fault names the field, e.g. `qty is required`. */
function readObject(type: GraphQLInputObjectType, value: unknown): Read {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return { fault: 'must be an object' };
  const fields = type.getFields();
  const missing = Object.values(fields).find((field) => isRequiredInputField(field) && !Object.hasOwn(value, field.name));
  if (missing) return { fault: `${missing.name} is required` };
  const read: [string, unknown][] = [];
  for (const [name, part] of Object.entries(value)) {
    const field = fields[name];
    const result = field ? readJson(field.type, part) : { fault: 'is not a field that can be written' };
    if ('fault' in result) return { fault: `${name} ${result.fault}` };
    read.push([name, result.value]);
  }
  return { value: Object.fromEntries(read) };
}

function readInt(value: number): Read {
  if (!Number.isInteger(value)) return { fault: 'must be a whole number' };
  return value >= -INT_LIMIT && value < INT_LIMIT ? { value } : { fault: 'is too large' };
}

/** A day that the calendar lacks would roll over to the next month. */
function isDay(moment: string): boolean {
  const date = new Date(moment);
  return !Number.isNaN(date.getTime()) && date.toISOString().slice(0, 19) === moment.slice(0, 19);
}
