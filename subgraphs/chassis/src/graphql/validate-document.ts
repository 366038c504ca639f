/** Validates documents, over HTTP and on sockets: the limits first, so that a document beyond them is never validated. */
import type { ApolloServerPlugin } from '@apollo/server';
import { type DocumentNode, GraphQLError, type GraphQLSchema, specifiedRules, validate } from 'graphql';
import type { RequestContext } from '../request/context.ts';
import { findConditionalRoot } from './conditional-root.ts';
import { findExcess } from './document-limits.ts';

/** A response names one error. Each that graphql-js finds holds memory of the whole validation. */
const OPTIONS = { maxErrors: 1 };
/** What was found in documents that are still in use. */
const findings = new WeakMap<DocumentNode, { readonly schema: GraphQLSchema; readonly error: GraphQLError | undefined }>();

/** Returns the first error of a document, undefined for a valid one. The same document is validated once. */
export function findDocumentError(schema: GraphQLSchema, document: DocumentNode): GraphQLError | undefined {
  const found = findings.get(document);
  if (found?.schema === schema) return found.error;
  const error = findExcess(document) ?? findConditionalRoot(document) ?? validate(schema, document, specifiedRules, OPTIONS)[0];
  findings.set(document, { schema, error });
  return error;
}

/** A plugin that validates in place of Apollo Server, which applies all rules to a document whatever it costs. */
export const validationPlugin: ApolloServerPlugin<RequestContext> = {
  requestDidStart: () =>
    Promise.resolve({
      didResolveOperation({ schema, document }) {
        const error = findDocumentError(schema, document);
        if (!error) return Promise.resolve();
        const { message, nodes = null, source = null, positions = null } = error;
        const extensions = { code: 'GRAPHQL_VALIDATION_FAILED', http: { status: 400 } };
        return Promise.reject(new GraphQLError(message, { nodes, source, positions, extensions }));
      },
    }),
};
