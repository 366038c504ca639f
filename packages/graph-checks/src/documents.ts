/** Validates trusted documents against a schema. */
import { type GraphQLError, type GraphQLSchema, Source, parse, validate } from 'graphql';
import { type GraphFault, faultOfError } from './faults.ts';

/** Describes a trusted document. */
export interface TrustedDocument {
  /** What faults name: its hash, or the path of its file. */
  readonly id: string;
  readonly text: string;
}

/** Of each document this many faults are reported. */
const MAX_ERRORS = 10;

/** Returns the faults of documents that do not parse or are not valid in the schema; `subgraph` of a fault is the document's id. */
export function validateDocuments(schema: GraphQLSchema, documents: readonly TrustedDocument[]): GraphFault[] {
  return documents.flatMap(({ id, text }) => {
    try {
      const document = parse(new Source(text, id), { maxTokens: 100_000 });
      return validate(schema, document, undefined, { maxErrors: MAX_ERRORS }).map((error) =>
        faultOfError(error, 'GRAPHQL_VALIDATION_FAILED'),
      );
    } catch (error) {
      return [faultOfError(error as GraphQLError, 'GRAPHQL_PARSE_FAILED')];
    }
  });
}
