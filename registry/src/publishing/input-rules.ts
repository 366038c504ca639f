/** What names, addresses, schemas and documents of clients must be. Pure: no database, no clock. */
import { checkString } from '@trestle/chassis/values/strings';
import { type FieldFault, rejectFaults } from '@trestle/schema/errors';
import { GraphQLError, Kind, parse } from 'graphql';

/** A subgraph as it is sent. */
export interface SubgraphInput {
  readonly name: string;
  readonly url?: string | null | undefined;
  readonly sdl: string;
}

const MAX_SUBGRAPHS = 100;
const MAX_SDL = 2_000_000;
const MAX_URL = 2000;
const MAX_DOCUMENT = 100_000;
const MAX_DOCUMENT_TOKENS = 10_000;
const SUBGRAPH_NAME = /^[a-z][\w-]{0,63}$/i;
const ENVIRONMENT_NAME = /^[a-z][a-z0-9-]{0,63}$/;

/** Throws VALIDATION_ERROR unless the string can name an environment. */
export function checkEnvironment(environment: string, field = 'environment'): void {
  const message = 'must have 1 to 64 lower-case letters, digits and hyphens, and begin with a letter';
  rejectFaults(ENVIRONMENT_NAME.test(environment) ? [] : [{ field, message }]);
}

/** Throws VALIDATION_ERROR unless each string can name a subgraph. */
export function checkSubgraphNames(names: readonly string[], field: string): void {
  rejectFaults(names.flatMap((name, i) => checkName(name, `${field}.${String(i)}`)));
}

/** Throws VALIDATION_ERROR that lists every faulty field: of names, addresses, lengths, and for a name that is there twice. */
export function checkSubgraphs(subgraphs: readonly SubgraphInput[], deleted: readonly string[] = []): void {
  const names = [...subgraphs.map(({ name }) => name), ...deleted];
  rejectFaults([
    ...(names.length < 1 || names.length > MAX_SUBGRAPHS
      ? [{ field: 'subgraphs', message: `must have 1 to ${String(MAX_SUBGRAPHS)} items` }]
      : []),
    ...names.flatMap((name, i) =>
      names.indexOf(name) < i ? [{ field: 'subgraphs', message: `must name \`${name.slice(0, 64)}\` once` }] : [],
    ),
    ...deleted.flatMap((name, i) => checkName(name, `deleted.${String(i)}`)),
    ...subgraphs.flatMap((subgraph, i) => checkSubgraph(subgraph, `subgraphs.${String(i)}`)),
  ]);
}

function checkSubgraph({ name, url, sdl }: SubgraphInput, field: string): FieldFault[] {
  return [
    ...checkName(name, `${field}.name`),
    ...(typeof url === 'string' ? checkUrl(url, `${field}.url`) : []),
    ...checkString(sdl, { field: `${field}.sdl`, min: 1, max: MAX_SDL }),
  ];
}

function checkName(name: string, field: string): FieldFault[] {
  const message = 'must have 1 to 64 letters, digits, underscores and hyphens, and begin with a letter';
  return SUBGRAPH_NAME.test(name) ? [] : [{ field, message }];
}

/** Gateways send requests there. A password would be readable to everybody who reads the supergraph. */
function checkUrl(url: string, field: string): FieldFault[] {
  const parsed = url.length <= MAX_URL && URL.canParse(url) ? new URL(url) : undefined;
  if (!parsed || !['http:', 'https:'].includes(parsed.protocol))
    return [{ field, message: `must be a URL of http or https, of at most ${String(MAX_URL)} characters` }];
  return parsed.username === '' && parsed.password === '' ? [] : [{ field, message: 'must not contain a user or password' }];
}

/** Throws VALIDATION_ERROR for a string that is shorter or longer than allowed. */
export function checkText(text: string, { field, min, max }: { readonly field: string; readonly min: number; readonly max: number }): void {
  rejectFaults(checkString(text, { field, min, max }));
}

/** Returns the names of documents with one operation each. Throws VALIDATION_ERROR that lists every faulty document. */
export function nameOperations(documents: readonly string[]): string[] {
  const faults: FieldFault[] = [];
  if (documents.length < 1) faults.push({ field: 'documents', message: 'must have 1 to 100 items' });
  const names = documents.map((document, i) => {
    const field = `documents.${String(i)}`;
    const tooLong = checkString(document, { field, min: 1, max: MAX_DOCUMENT });
    const name = tooLong.length > 0 ? undefined : nameOf(document);
    faults.push(...tooLong);
    if (tooLong.length === 0 && name === undefined)
      faults.push({ field, message: 'must be a document with one operation that has a name' });
    return name ?? '';
  });
  rejectFaults(faults);
  return names;
}

function nameOf(document: string): string | undefined {
  try {
    const { definitions } = parse(document, { maxTokens: MAX_DOCUMENT_TOKENS, noLocation: true });
    const operations = definitions.filter((each) => each.kind === Kind.OPERATION_DEFINITION);
    return operations.length === 1 ? operations[0]?.name?.value : undefined;
  } catch (error) {
    // A document that is nested too deeply throws a RangeError.
    if (error instanceof GraphQLError || error instanceof RangeError) return undefined;
    throw error;
  }
}
