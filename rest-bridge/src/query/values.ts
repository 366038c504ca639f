/** Parses one query parameter, or one JSON value, as a value of a GraphQL type. No I/O. */
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

/** The parsed value, or the reason why it is not valid. */
export type ParsedValue = { readonly value: unknown } | { readonly fault: string };

/** Starts with year 1: ISO 8601 has a year 0, PostgreSQL does not. */
const TIMESTAMP = /^(?!0000)\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(?:\.\d{1,9})?Z$/;
const INT_LIMIT = 2 ** 31;
const MAX_INT_CHARACTERS = String(-INT_LIMIT).length;
const BEYOND_INT = `must be an integer from ${String(-INT_LIMIT)} to ${String(INT_LIMIT - 1)}`;

/** Parses a query parameter: `true`, `42`, `2026-01-31T12:00:00Z`, an enum value in lower case, or a comma-separated list. */
export function parseText(type: GraphQLInputType, text: string): ParsedValue {
  const nullable = getNullableType(type);
  if (isListType(nullable)) {
    const items = text.split(',').map((item) => parseText(nullable.ofType, item));
    return items.find((item) => 'fault' in item) ?? { value: items.map((item) => ('value' in item ? item.value : undefined)) };
  }
  switch (nullable.name) {
    case 'Int':
      if (!/^-?\d+$/.test(text)) return { fault: 'must be an integer' };
      return text.length > MAX_INT_CHARACTERS ? { fault: BEYOND_INT } : parseInt32(Number(text));
    case 'Boolean':
      return text === 'true' || text === 'false' ? { value: text === 'true' } : { fault: 'must be true or false' };
    default:
      return parseJsonValue(type, text);
  }
}

/** The names of fields whose ids are integers (contract §2). */
export const INTEGER_IDS: ReadonlySet<string> = new Set(['productId']);

/** Parses the JSON value of the field `name`; accepts null where the type is nullable, and numbers for ids in `INTEGER_IDS` only. */
export function parseJsonValue(type: GraphQLInputType, value: unknown, name = ''): ParsedValue {
  if (value === null) return isNonNullType(type) ? { fault: 'must not be null' } : { value };
  const nullable = getNullableType(type);
  if (isListType(nullable)) return parseItems(nullable.ofType, value);
  if (isEnumType(nullable)) {
    const found = nullable.getValues().find(({ name }) => name.toLowerCase() === value);
    if (found) return { value: found.name };
    const names = nullable.getValues().map(({ name }) => name.toLowerCase());
    return { fault: `must be one of ${names.join(', ')}` };
  }
  if (isInputObjectType(nullable)) return parseObject(nullable, value);
  switch ((nullable as GraphQLNamedInputType).name) {
    case 'Int':
      return typeof value === 'number' ? parseInt32(value) : { fault: 'must be an integer' };
    case 'Boolean':
      return typeof value === 'boolean' ? { value } : { fault: 'must be true or false' };
    case 'ID':
      return INTEGER_IDS.has(name) ? parseIntegerId(value) : parseString(value);
    case 'JSON':
      return typeof value === 'object' ? { value } : { fault: 'must be an object' };
    case 'DateTime':
      return typeof value === 'string' && TIMESTAMP.test(value) && isCalendarDate(value)
        ? { value }
        : { fault: 'must be a UTC timestamp such as 2026-01-31T12:00:00Z' };
    default:
      return parseString(value);
  }
}

function parseString(value: unknown): ParsedValue {
  return typeof value === 'string' && !value.includes('\0') ? { value } : { fault: 'must be a string without the character U+0000' };
}

/** Parses an id that is an integer in REST. Its string in GraphQL is accepted too. */
function parseIntegerId(value: unknown): ParsedValue {
  if (typeof value === 'number' && Number.isSafeInteger(value)) return { value: String(value) };
  return typeof value === 'string' && !value.includes('\0')
    ? { value }
    : { fault: 'must be an ID: a string without the character U+0000, or an integer' };
}

function parseItems(type: GraphQLInputType, value: unknown): ParsedValue {
  if (!Array.isArray(value)) return { fault: 'must be an array' };
  const items = value.map((item) => parseJsonValue(type, item));
  return items.find((item) => 'fault' in item) ?? { value: items.map((item) => ('value' in item ? item.value : undefined)) };
}

/** Parses a nested input object; a fault names the field, e.g. `qty is required`. */
function parseObject(type: GraphQLInputObjectType, value: unknown): ParsedValue {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return { fault: 'must be an object' };
  const fields = type.getFields();
  const missing = Object.values(fields).find((field) => isRequiredInputField(field) && !Object.hasOwn(value, field.name));
  if (missing) return { fault: `${missing.name} is required` };
  const entries: [string, unknown][] = [];
  for (const [name, part] of Object.entries(value)) {
    const field = fields[name];
    const result = field ? parseJsonValue(field.type, part, name) : { fault: 'is unknown' };
    if ('fault' in result) return { fault: `${name} ${result.fault}` };
    entries.push([name, result.value]);
  }
  return { value: Object.fromEntries(entries) };
}

function parseInt32(value: number): ParsedValue {
  if (!Number.isInteger(value)) return { fault: 'must be an integer' };
  return value >= -INT_LIMIT && value < INT_LIMIT ? { value } : { fault: BEYOND_INT };
}

/** Rejects dates such as 30 February, which `Date` would move to the next month. */
function isCalendarDate(timestamp: string): boolean {
  const date = new Date(timestamp);
  return !Number.isNaN(date.getTime()) && date.toISOString().slice(0, 19) === timestamp.slice(0, 19);
}
