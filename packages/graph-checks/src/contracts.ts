/**
 * Makes contracts: variants of a supergraph that have only what include and exclude lists of `@tag` names select. What is left out is marked
 * `@inaccessible`, so that a gateway serves the variant as it serves the whole: subgraphs still deliver keys that clients do not see.
 * The rules are those of Apollo's contracts (https://www.apollographql.com/docs/graphos/platform/schema-management/delivery/contracts/reference).
 */
import { type GraphQLError, parse, print } from 'graphql';
import { toApiSdl } from './compose.ts';
import { linkInaccessible } from './contract-directives.ts';
import { type ContractFilter, filterDocument, listKeptTypes, markTypes } from './contract-filter.ts';
import { type GraphFault, faultOfError, faultWithoutPlace } from './faults.ts';
import { findUnreachableTypes } from './reachable-types.ts';

/** A filter with the name of its contract. */
export interface NamedContract extends ContractFilter {
  readonly name: string;
}

/** Holds the schemas of a contract, or why there is none. */
export type Contract =
  | { readonly ok: true; readonly supergraphSdl: string; readonly apiSdl: string }
  | { readonly ok: false; readonly errors: readonly GraphFault[] };

/** Counts the versions of the rules: a supergraph and a filter give the same contract as long as it is the same. */
export const CONTRACT_RULES = 1;

const TAG_NAME = /^[\w/-]{1,128}$/u;

/** Returns what is wrong with a filter: names that no tag can have, and tags that are both included and excluded. */
export function listFilterFaults({
  include,
  exclude,
}: ContractFilter): { readonly field: 'include' | 'exclude'; readonly message: string }[] {
  const excluded = new Set(exclude);
  const malformed = ([field, tags]: ['include' | 'exclude', readonly string[]]) =>
    tags.some((tag) => !TAG_NAME.test(tag))
      ? [{ field, message: 'must have names of tags: 1 to 128 letters, digits, underscores, hyphens and slashes' }]
      : [];
  const both = include.filter((tag) => excluded.has(tag));
  return [
    ...malformed(['include', include]),
    ...malformed(['exclude', exclude]),
    ...(both.length > 0
      ? [{ field: 'exclude' as const, message: `must not have the included tag \`${both[0]?.slice(0, 128) ?? ''}\`` }]
      : []),
  ];
}

/**
 * Returns the contract of a supergraph. A filter that is not valid, or that leaves no valid schema, is reported and not thrown: it may leave no query,
 * a field whose type is left out, an argument or input field that is required and left out, or an interface whose field an object has no more.
 */
export function makeContract(supergraphSdl: string, filter: ContractFilter): Contract {
  const faults = listFilterFaults(filter);
  if (faults.length > 0)
    return {
      ok: false,
      errors: faults.map(({ field, message }) =>
        faultWithoutPlace({ code: 'CONTRACT_FILTER_INVALID', message: `\`${field}\` ${message}.`, severity: 'error' }),
      ),
    };
  try {
    return { ok: true, ...applyFilter(supergraphSdl, filter) };
  } catch (error) {
    return { ok: false, errors: causesOf(error as GraphQLError).map((cause) => faultOfError(cause, 'CONTRACT_FAILED')) };
  }
}

function applyFilter(supergraphSdl: string, filter: ContractFilter): { readonly supergraphSdl: string; readonly apiSdl: string } {
  const { document, names } = linkInaccessible(parse(supergraphSdl));
  const filtered = filterDocument(document, filter, names);
  const whole = toSchemas(print(filtered));
  if (filter.removeUnreachableTypes === false) return whole;
  const unreachable = findUnreachableTypes(whole.apiSdl, listKeptTypes(filtered, filter, names));
  return unreachable.size > 0 ? toSchemas(print(markTypes(filtered, unreachable, names))) : whole;
}

function toSchemas(sdl: string) {
  const supergraphSdl = `${sdl}\n`;
  return { supergraphSdl, apiSdl: toApiSdl(supergraphSdl) };
}

/** federation-internals reports several errors as one with `causes`. */
function causesOf(error: GraphQLError & { readonly causes?: readonly GraphQLError[] }): readonly GraphQLError[] {
  return error.causes ?? [error];
}
