/** Runs everything that decides whether subgraphs may be published: composition, changes, lint, trusted documents, contracts. No I/O. */
import { type GraphQLSchema, buildSchema } from 'graphql';
import { listChanges } from './changes.ts';
import { type CostComparison, compareCosts } from './compare-costs.ts';
import { type Disagreement, type SubgraphSource, composeGraph } from './compose.ts';
import { type NamedContract, makeContract } from './contracts.ts';
import { type TrustedDocument, validateDocuments } from './documents.ts';
import { type CostSchemas, toCostSchemas } from './estimate-cost.ts';
import type { GraphFault } from './faults.ts';
import { type LintRules, lintSdl } from './lint.ts';
import type { UsagePolicy } from './policy.ts';
import { type DecidedChange, type RecordedUsage, type Verdict, decideChanges } from './usage.ts';

/** Configures a check. */
export interface CheckInput {
  /** All subgraphs as they would be after the publish. */
  readonly subgraphs: readonly SubgraphSource[];
  /** Names of those that are new or changed; only these are linted. */
  readonly changed: readonly string[];
  /** The API schema that clients use now; undefined for the first publish of a graph. */
  readonly currentApiSdl?: string | undefined;
  /** The supergraph that `currentApiSdl` belongs to; undefined: neither costs nor what callers may read are compared. */
  readonly currentSupergraphSdl?: string | undefined;
  /** Undefined when nothing is recorded: then each breaking change fails. */
  readonly usage?: RecordedUsage | undefined;
  readonly policy?: UsagePolicy;
  readonly lint?: LintRules;
  readonly documents?: readonly TrustedDocument[];
  readonly contracts?: readonly NamedContract[];
  /** Whether the second composer runs too. Default true. */
  readonly secondOpinion?: boolean;
}

/** Reports one contract of a check. */
export interface ContractReport {
  readonly name: string;
  readonly errors: readonly GraphFault[];
}

/** Reports a check. Its verdict is the worst of its parts: `fail`, then `not_enough_data`, then `warn`. */
export interface CheckReport {
  readonly verdict: Verdict;
  readonly composition: { readonly ok: boolean; readonly errors: readonly GraphFault[] };
  readonly hints: readonly GraphFault[];
  readonly disagreements: readonly Disagreement[];
  readonly changes: readonly DecidedChange[];
  /** What recorded operations cost; null when there is nothing to compare with. */
  readonly costs: CostComparison | null;
  readonly lint: readonly GraphFault[];
  readonly documents: readonly GraphFault[];
  readonly contracts: readonly ContractReport[];
  /** The schemas that would be published; null when they do not compose. */
  readonly supergraphSdl: string | null;
  readonly apiSdl: string | null;
}

const RANKS: Record<Verdict, number> = { pass: 0, warn: 1, not_enough_data: 2, fail: 3 };

/** Returns the report of a check. Throws only when `currentApiSdl` is not a valid schema. */
export async function checkGraph(input: CheckInput): Promise<CheckReport> {
  const composition = composeGraph(input.subgraphs, { secondOpinion: input.secondOpinion ?? true });
  const changed = new Set(input.changed);
  const lint = input.subgraphs.filter(({ name }) => changed.has(name)).flatMap(({ name, sdl }) => lintSdl(name, sdl, input.lint));
  const { hints, disagreements } = composition;
  if (!composition.ok) {
    const refused = { ok: false, errors: composition.errors };
    return { ...NOTHING, verdict: 'fail', composition: refused, hints, disagreements, lint };
  }
  const { supergraphSdl, apiSdl } = composition;
  const schema = buildSchema(apiSdl, { assumeValidSDL: true });
  const changes = await decide(input, { schema, supergraphSdl });
  const documents = validateDocuments(schema, input.documents ?? []);
  const contracts = (input.contracts ?? []).map((filter) => {
    const contract = makeContract(supergraphSdl, filter);
    return { name: filter.name, errors: contract.ok ? [] : contract.errors };
  });
  const costs = compareOperationCosts(input, () => toCostSchemas(schema, supergraphSdl));
  const parts = { hints, disagreements, changes, costs, lint, documents, contracts, supergraphSdl, apiSdl };
  return { ...parts, composition: { ok: true, errors: [] }, verdict: findVerdict(parts) };
}

const NOTHING = { changes: [], costs: null, documents: [], contracts: [], supergraphSdl: null, apiSdl: null };

interface Proposed {
  readonly schema: GraphQLSchema;
  readonly supergraphSdl: string;
}

async function decide(
  { currentApiSdl, currentSupergraphSdl: from, usage, policy }: CheckInput,
  { schema: next, supergraphSdl: to }: Proposed,
): Promise<DecidedChange[]> {
  if (currentApiSdl === undefined) return [];
  const schema = buildSchema(currentApiSdl, { assumeValidSDL: true });
  const changes = await listChanges(schema, next, from === undefined ? undefined : { from, to });
  return decideChanges({ schema, next, changes, usage, ...(policy && { policy }) });
}

function compareOperationCosts({ currentApiSdl, currentSupergraphSdl, usage, policy }: CheckInput, toAfter: () => CostSchemas) {
  if (currentApiSdl === undefined || currentSupergraphSdl === undefined || !usage) return null;
  const before = toCostSchemas(currentApiSdl, currentSupergraphSdl);
  return compareCosts({ before, after: toAfter(), usage, ...(policy && { policy }) });
}

function findVerdict(parts: Pick<CheckReport, 'changes' | 'costs' | 'lint' | 'documents' | 'contracts' | 'disagreements'>): Verdict {
  const verdicts: Verdict[] = [
    ...parts.changes.map(({ verdict }) => verdict),
    ...(parts.costs?.grown ?? []).map(({ isOverLimit }): Verdict => (isOverLimit ? 'fail' : 'pass')),
    ...parts.lint.map(({ severity }): Verdict => (severity === 'error' ? 'fail' : 'warn')),
    ...parts.documents.map((): Verdict => 'fail'),
    ...parts.contracts.map(({ errors }): Verdict => (errors.length > 0 ? 'fail' : 'pass')),
    ...parts.disagreements.map((): Verdict => 'warn'),
  ];
  return verdicts.reduce((worst, each) => (RANKS[each] > RANKS[worst] ? each : worst), 'pass');
}
