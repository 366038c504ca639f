/** Reads the parameters of a GraphQL request (GraphQL over HTTP, "Request parameters"). No I/O. */
import { type FieldFault, fail } from '@trestle/schema/errors';
import { JsonTooDeep, parseJson } from './json.ts';
import { type Resume, readResume } from './position.ts';

export interface Parameters {
  readonly query: string | undefined;
  readonly operationName: string | undefined;
  readonly variables: Readonly<Record<string, unknown>>;
  readonly extensions: Readonly<Record<string, unknown>>;
  /** Names a trusted document in place of `query`. */
  readonly documentId: string | undefined;
  /** For a subscription: what is asked for of positions. */
  readonly resume: Resume | undefined;
}

/** It stands in logs, metrics and traces, where the document may name the operation as well (see `toOperationLabel`). */
const MAX_NAME_CHARACTERS = 200;

const NONE: Readonly<Record<string, unknown>> = Object.freeze({});

/** `body` is one parsed JSON object. Throws VALIDATION_ERROR that names every fault. */
export function readParameters(body: Readonly<Record<string, unknown>>): Parameters {
  const { query, operationName, variables, extensions, documentId } = body;
  if (!isText(query) || !isText(operationName) || !isMap(variables) || !isMap(extensions) || !isText(documentId)) refuse(body);
  if (typeof operationName === 'string' && operationName.length > MAX_NAME_CHARACTERS)
    throw fail(
      'VALIDATION_ERROR',
      `\`operationName\` has ${String(operationName.length)} characters; the limit is ${String(MAX_NAME_CHARACTERS)}`,
    );
  const given = (extensions as Record<string, unknown> | null | undefined) ?? NONE;
  return {
    query: (query as string | null | undefined) ?? undefined,
    operationName: (operationName as string | null | undefined) ?? undefined,
    variables: (variables as Record<string, unknown> | null | undefined) ?? NONE,
    extensions: given,
    documentId: (documentId as string | null | undefined) ?? undefined,
    resume: readResume(given),
  };
}

/** Reads them from a URL's query string: `variables` and `extensions` are JSON there. */
export function readSearchParameters(search: string): Parameters {
  const given = new URLSearchParams(search);
  const body: Record<string, unknown> = {};
  for (const name of ['query', 'operationName', 'documentId']) {
    const value = given.get(name);
    // A form sends what is empty as well.
    if (value !== null && value !== '') body[name] = value;
  }
  for (const name of ['variables', 'extensions']) {
    const value = given.get(name);
    if (value === null || value === '') continue;
    try {
      body[name] = parseJson(value);
    } catch (error) {
      throw fail('VALIDATION_ERROR', `${name} ${error instanceof JsonTooDeep ? error.message : 'is not well-formed JSON'}`);
    }
  }
  return readParameters(body);
}

function isText(value: unknown): boolean {
  return value === undefined || value === null || typeof value === 'string';
}

function isMap(value: unknown): boolean {
  return value === undefined || value === null || (typeof value === 'object' && !Array.isArray(value));
}

/** Throws VALIDATION_ERROR that names every parameter of the wrong type. */
function refuse(body: Readonly<Record<string, unknown>>): never {
  const details: FieldFault[] = [];
  for (const field of ['query', 'operationName', 'documentId'])
    if (!isText(body[field])) details.push({ field, message: 'must be a string' });
  for (const field of ['variables', 'extensions']) if (!isMap(body[field])) details.push({ field, message: 'must be an object' });
  throw fail('VALIDATION_ERROR', details.map(({ field, message }) => `\`${field}\` ${message}`).join('; '), { details });
}
