/**
 * Composes subgraphs into a supergraph by `@apollo/composition`, and asks `@theguild/federation-composition` for a second opinion. No I/O.
 */
import { composeServices } from '@apollo/composition';
import { ROUTER_SUPPORTED_SUPERGRAPH_FEATURES, Supergraph } from '@apollo/federation-internals';
import { composeServices as composeByGuild } from '@theguild/federation-composition';
import { type DocumentNode, GraphQLError, Source, parse, printSchema } from 'graphql';
import { findDifference } from './compare-api.ts';
import { type GraphFault, type Severity, faultAtNodes, faultOfError } from './faults.ts';

/** Describes one subgraph for composition. */
export interface SubgraphSource {
  readonly name: string;
  /** Routing URL in the supergraph. May be empty when only the schema matters. */
  readonly url: string;
  readonly sdl: string;
}

/** Describes where the two composers differ: one refuses what the other accepts, or their API schemas differ. */
export interface Disagreement {
  readonly kind: 'only-apollo-refuses' | 'only-guild-refuses' | 'api-schemas-differ';
  readonly message: string;
}

/** Holds the composed schemas, or every error that prevents composition. Both come with hints and disagreements. */
export type GraphComposition = ComposedGraph | RefusedGraph;

/** Holds the schemas of a graph that composes. */
export interface ComposedGraph {
  readonly ok: true;
  readonly supergraphSdl: string;
  /** The public schema, which clients see. */
  readonly apiSdl: string;
  readonly hints: readonly GraphFault[];
  readonly disagreements: readonly Disagreement[];
}

/** Holds why a graph does not compose. */
export interface RefusedGraph {
  readonly ok: false;
  readonly errors: readonly GraphFault[];
  readonly hints: readonly GraphFault[];
  readonly disagreements: readonly Disagreement[];
}

/** Configures a composition. */
export interface ComposeOptions {
  /** Whether the second composer runs too. Default true. */
  readonly secondOpinion?: boolean;
  /** The subgraphs in which an error that concerns several is shown, such as those that have changed. Default: the first one that it concerns. */
  readonly showIn?: readonly string[];
}

/** The version of the composer that decides, which is part of a launch's identity. */
export const COMPOSER = '@apollo/composition@2.14.4';

/** A message of the other composer is shortened to this many characters. */
const MESSAGE_LENGTH = 500;
/** Options of the parser: bounds the work for a hostile schema. */
const PARSE_OPTIONS = { maxTokens: 2_000_000 };

type CompositionHint = NonNullable<ReturnType<typeof composeServices>['hints']>[number];

interface Service {
  readonly name: string;
  readonly url: string;
  readonly typeDefs: DocumentNode;
}

/** Composes the subgraphs. Returns all errors when they are invalid or conflict; it does not throw for them. */
export function composeGraph(subgraphs: readonly SubgraphSource[], options: ComposeOptions = {}): GraphComposition {
  const { services, errors } = parseSubgraphs(subgraphs);
  if (errors.length > 0) return { ok: false, errors, hints: [], disagreements: [] };
  const first = composeByApollo(services, options.showIn);
  if (options.secondOpinion === false) return { ...first, disagreements: [] };
  return { ...first, disagreements: compareWithGuild(first, services) };
}

/** Returns the public schema of a supergraph as SDL. Throws a GraphQLError when it is not a supergraph. */
export function toApiSdl(supergraphSdl: string): string {
  // The features of security are known to the gateway, not to federation-internals by default.
  const supergraph = Supergraph.build(supergraphSdl, { supportedFeatures: ROUTER_SUPPORTED_SUPERGRAPH_FEATURES });
  return `${printSchema(supergraph.apiSchema().toGraphQLJSSchema()).trim()}\n`;
}

/** Parses each SDL; its source is named after the subgraph, so that errors name it. */
function parseSubgraphs(subgraphs: readonly SubgraphSource[]): { services: Service[]; errors: GraphFault[] } {
  const services: Service[] = [];
  const errors: GraphFault[] = [];
  const names = new Set<string>();
  for (const { name, url, sdl } of subgraphs) {
    if (names.has(name)) errors.push(faultOfError(new GraphQLError(`Subgraph "${name}" is given twice.`), 'DUPLICATE_SUBGRAPH'));
    names.add(name);
    try {
      services.push({ name, url, typeDefs: parse(new Source(sdl, name), PARSE_OPTIONS) });
    } catch (error) {
      errors.push(faultOfError(error as GraphQLError, 'GRAPHQL_PARSE_FAILED'));
    }
  }
  return { services, errors };
}

function composeByApollo(services: Service[], showIn: readonly string[] = []) {
  try {
    const result = composeServices(services);
    const hints = (result.hints ?? []).map(toHint);
    if (result.errors) {
      return { ok: false as const, errors: result.errors.map((error) => faultOfError(error, 'COMPOSITION_FAILED', showIn)), hints };
    }
    const supergraphSdl = `${result.supergraphSdl.trim()}\n`;
    return { ok: true as const, supergraphSdl, apiSdl: toApiSdl(supergraphSdl), hints };
  } catch (error) {
    // The composer throws for some invalid schemas instead of returning their errors.
    const reason = error instanceof Error ? error.message : String(error);
    const asGraphQL = error instanceof GraphQLError ? error : new GraphQLError(`The composer failed for these schemas: ${reason}`);
    return { ok: false as const, errors: [faultOfError(asGraphQL, 'COMPOSITION_FAILED', showIn)], hints: [] };
  }
}

function toHint(hint: CompositionHint): GraphFault {
  const severities: Record<string, Severity> = { WARN: 'warning', INFO: 'info', DEBUG: 'info' };
  const { code, level } = hint.definition;
  return faultAtNodes({ code, message: hint.message, severity: severities[level.name] ?? 'info' }, hint.nodes ?? []);
}

function compareWithGuild(first: ReturnType<typeof composeByApollo>, services: Service[]): Disagreement[] {
  const second = composeSecond(services);
  if (!first.ok && second.publicSdl !== undefined) {
    const [error] = first.errors;
    return [{ kind: 'only-apollo-refuses', message: shorten(`${error?.code ?? ''}: ${error?.message ?? ''}`) }];
  }
  if (!first.ok) return [];
  if (second.publicSdl === undefined) return [{ kind: 'only-guild-refuses', message: shorten(second.message) }];
  const difference = findDifference({ apollo: first.apiSdl, guild: second.publicSdl });
  return difference === undefined ? [] : [{ kind: 'api-schemas-differ', message: shorten(difference) }];
}

function composeSecond(services: Service[]): { publicSdl: string } | { publicSdl?: undefined; message: string } {
  try {
    const result = composeByGuild(services);
    if (result.errors === undefined) return { publicSdl: result.publicSdl };
    return { message: result.errors.map(({ message, extensions }) => `${String(extensions['code'])}: ${message}`).join('; ') };
  } catch (error) {
    return { message: error instanceof Error ? error.message : String(error) };
  }
}

function shorten(message: string): string {
  return message.length > MESSAGE_LENGTH ? `${message.slice(0, MESSAGE_LENGTH)}…` : message;
}
