/** Parses the parameters of a GraphQL request (GraphQL over HTTP, "Request parameters"). No I/O. */
import { type FieldFault, fail } from '@trestle/schema/errors';
import { isUtf8 } from '@trestle/service/messages/query-string';
import { JsonTooDeep, isObject, parseJson } from './json.ts';
import { type Resume, readResume } from './position.ts';

export interface Parameters {
  readonly query: string | undefined;
  readonly operationName: string | undefined;
  readonly variables: Readonly<Record<string, unknown>>;
  readonly extensions: Readonly<Record<string, unknown>>;
  /** The id of a trusted document, in place of `query`. */
  readonly documentId: string | undefined;
  /** For a subscription: whether events carry positions, and where it continues. */
  readonly resume: Resume | undefined;
}

/** The name appears in logs, metrics and traces. */
const MAX_NAME_CHARACTERS = 200;

const NONE: Readonly<Record<string, unknown>> = Object.freeze({});

/** Returns the parameters in a parsed JSON object. Throws VALIDATION_ERROR that names every invalid parameter. */
export function readParameters(body: Readonly<Record<string, unknown>>): Parameters {
  const { query, operationName, variables, extensions, documentId } = body;
  if (
    !isString(query) ||
    !isString(operationName) ||
    !isAbsentOrObject(variables) ||
    !isAbsentOrObject(extensions) ||
    !isString(documentId)
  )
    refuse(body);
  if (typeof operationName === 'string' && operationName.length > MAX_NAME_CHARACTERS)
    throw fail(
      'VALIDATION_ERROR',
      `\`operationName\` length ${String(operationName.length)} exceeds the limit of ${String(MAX_NAME_CHARACTERS)}.`,
    );
  const given = (extensions as Record<string, unknown> | null | undefined) ?? NONE;
  return {
    // Clients of WebSockets send an empty one beside an id or a hash, because the protocol requires `query`.
    query: query === '' ? undefined : ((query as string | null | undefined) ?? undefined),
    operationName: (operationName as string | null | undefined) ?? undefined,
    variables: (variables as Record<string, unknown> | null | undefined) ?? NONE,
    extensions: given,
    documentId: (documentId as string | null | undefined) ?? undefined,
    resume: readResume(given),
  };
}

/** Returns the parameters in the query string of a URL, where `variables` and `extensions` are JSON. Throws VALIDATION_ERROR. */
export function readSearchParameters(search: string): Parameters {
  if (!isUtf8(search)) throw fail('VALIDATION_ERROR', 'The query string is not valid UTF-8.');
  const given = new URLSearchParams(search);
  const body: Record<string, unknown> = {};
  for (const name of ['query', 'operationName', 'documentId']) {
    const value = given.get(name);
    // Forms send empty fields too.
    if (value !== null && value !== '') body[name] = value;
  }
  for (const name of ['variables', 'extensions']) {
    const value = given.get(name);
    if (value === null || value === '') continue;
    try {
      body[name] = parseJson(value);
    } catch (error) {
      throw fail('VALIDATION_ERROR', `\`${name}\` ${error instanceof JsonTooDeep ? error.message : 'is not valid JSON'}.`);
    }
  }
  return readParameters(body);
}

function isString(value: unknown): boolean {
  return value === undefined || value === null || typeof value === 'string';
}

function isAbsentOrObject(value: unknown): boolean {
  return value === undefined || value === null || isObject(value);
}

/** Throws VALIDATION_ERROR that names every parameter of the wrong type. */
function refuse(body: Readonly<Record<string, unknown>>): never {
  const details: FieldFault[] = [];
  for (const field of ['query', 'operationName', 'documentId'])
    if (!isString(body[field])) details.push({ field, message: 'must be a string' });
  for (const field of ['variables', 'extensions'])
    if (!isAbsentOrObject(body[field])) details.push({ field, message: 'must be an object' });
  throw fail('VALIDATION_ERROR', `${details.map(({ field, message }) => `\`${field}\` ${message}`).join('; ')}.`, { details });
}
