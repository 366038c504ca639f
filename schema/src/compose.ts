/** Composes subgraph SDL into a supergraph and its public view (spec §2.5). No I/O. */
import { composeServices } from '@apollo/composition';
import { ROUTER_SUPPORTED_SUPERGRAPH_FEATURES, Supergraph } from '@apollo/federation-internals';
import { type GraphQLError, Source, parse, printSchema } from 'graphql';

/** Describes one subgraph for composition. */
export interface SubgraphSource {
  readonly name: string;
  /** Routing URL in the supergraph; the gateway's settings may override it. */
  readonly url: string;
  /** Path of the file, as printed in problems. */
  readonly file: string;
  readonly sdl: string;
}

/** Describes one composition error. Lines and columns start at 1. */
export interface CompositionProblem {
  readonly code: string;
  readonly message: string;
  readonly places: readonly { readonly file: string; readonly line: number; readonly column: number }[];
}

/** Holds the composed schemas, or every problem that prevents composition. */
export type Composition =
  | { readonly ok: true; readonly supergraphSdl: string; readonly apiSdl: string }
  | { readonly ok: false; readonly problems: readonly CompositionProblem[] };

/** Composes the subgraphs. Returns all problems when the schemas are invalid or conflict; it does not throw for them. */
export function compose(subgraphs: readonly SubgraphSource[]): Composition {
  const services = [];
  const problems: CompositionProblem[] = [];
  for (const subgraph of subgraphs) {
    try {
      const typeDefs = parse(new Source(subgraph.sdl, subgraph.file));
      services.push({ name: subgraph.name, url: subgraph.url, typeDefs });
    } catch (error) {
      problems.push(toProblem(error as GraphQLError));
    }
  }
  if (problems.length > 0) return { ok: false, problems };

  const result = composeServices(services);
  if (result.errors) return { ok: false, problems: result.errors.map(toProblem) };
  // The gateway enforces the features for security, which @apollo/gateway does not know.
  const supergraph = Supergraph.build(result.supergraphSdl, { supportedFeatures: ROUTER_SUPPORTED_SUPERGRAPH_FEATURES });
  const api = supergraph.apiSchema().toGraphQLJSSchema();
  return {
    ok: true,
    supergraphSdl: `${result.supergraphSdl.trim()}\n`,
    apiSdl: `${printSchema(api).trim()}\n`,
  };
}

/** Formats a problem like a compiler, one line per location: `schema/users.graphql:12:3 CODE message`. */
export function formatProblem({ code, message, places }: CompositionProblem): string {
  if (places.length === 0) return `${code} ${message}`;
  return places.map(({ file, line, column }) => `${file}:${line}:${column} ${code} ${message}`).join('\n');
}

function toProblem(error: GraphQLError): CompositionProblem {
  const code = typeof error.extensions['code'] === 'string' ? error.extensions['code'] : 'GRAPHQL_PARSE_FAILED';
  return { code, message: error.message, places: placesOf(error) };
}

/** Returns the locations of an error: of the conflicting nodes for a composition error, of the source for a syntax error. */
function placesOf(error: GraphQLError): CompositionProblem['places'] {
  const locations = error.nodes?.flatMap(({ loc }) =>
    loc ? [{ source: loc.source, line: loc.startToken.line, column: loc.startToken.column }] : [],
  );
  if (locations?.length) return locations.map(({ source, line, column }) => ({ file: source.name, line, column }));
  return (error.locations ?? []).map(({ line, column }) => ({ file: error.source?.name ?? '', line, column }));
}
