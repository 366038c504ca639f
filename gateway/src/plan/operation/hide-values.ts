/** Removes the values of a document from the messages of its errors: a literal may be a password, and clients keep errors. No I/O. */
import { GraphQLError, Kind, print } from 'graphql';

const HIDDEN = '…';
const MAY_BE_SECRET: ReadonlySet<string> = new Set([Kind.STRING, Kind.INT, Kind.FLOAT, Kind.LIST, Kind.OBJECT]);
/** A token in the message of a syntax error (graphql-js `getTokenDesc`). */
const FOUND_TOKEN = /(found (?:String|BlockString|Int|Float)) [^]*$/;

/** Returns the error with `…` in place of every literal that its message quotes. */
export function hideValues(error: GraphQLError): GraphQLError {
  const { nodes = [], source, positions, path, originalError, extensions } = error;
  const literals = nodes.filter(({ kind }) => MAY_BE_SECRET.has(kind)).map(print);
  const message = literals.reduce((text, literal) => text.replaceAll(literal, HIDDEN), error.message).replace(FOUND_TOKEN, `$1 ${HIDDEN}.`);
  if (message === error.message) return error;
  return new GraphQLError(message, { nodes, source, positions, path, originalError, extensions });
}
