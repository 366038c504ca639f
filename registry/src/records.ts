/** What the registry keeps, as its store returns it. */
import type { FoundCosts, GrownOperation } from './composition/cost-findings.ts';
import type { ChangeDecision } from './composition/decision.ts';

/** How an environment came to serve a launch. */
export type ReleaseAction = 'PUBLISH' | 'DELETE' | 'ROLLBACK' | 'PROMOTE' | 'CANARY' | 'RETURN' | 'CONTRACT';

/** What a token may allow. */
export const TOKEN_SCOPES = ['READ', 'CHECK', 'PUBLISH', 'RELEASE', 'APPROVE', 'CANARY', 'CONTRACT', 'REPORT', 'ADMIN'] as const;
/** One scope of a token. */
export type TokenScope = (typeof TOKEN_SCOPES)[number];

/** A subgraph's schema and address: what a launch is composed of. */
export interface SubgraphSchema {
  readonly name: string;
  readonly url: string;
  readonly sdl: string;
}

/** A subgraph's schema that was published. */
export interface SubgraphVersion extends SubgraphSchema {
  /** The SHA-256 of name, address and schema, in hexadecimal. */
  readonly id: string;
  readonly actor: string;
  readonly createdAt: Date;
}

/** A composed graph. */
export interface Launch {
  readonly id: string;
  readonly composer: string;
  /** The ids of its versions, sorted by the subgraphs' names. */
  readonly versions: readonly string[];
  readonly supergraphSdl: string;
  readonly apiSdl: string;
  readonly createdAt: Date;
}

/** That an environment began to serve a launch. */
export interface Release {
  readonly environment: string;
  /** Counts the releases of the environment from 1 on. */
  readonly number: number;
  readonly launchId: string;
  readonly action: ReleaseAction;
  readonly promotedFrom: string | null;
  readonly actor: string;
  readonly message: string | null;
  readonly createdAt: Date;
  /** The launch that a share of requests gets instead, and the share, 1 to 99; both null without a canary. */
  readonly canaryLaunchId: string | null;
  readonly canaryPercent: number | null;
}

/** A release without a canary. */
export const NO_CANARY = { canaryLaunchId: null, canaryPercent: null } as const;

/** A reason why subgraphs do not compose, or a hint of the composer. */
export interface CompositionProblem {
  readonly code: string;
  readonly message: string;
  readonly places: readonly { readonly subgraph: string; readonly line: number; readonly column: number }[];
}

/** A difference between two schemas that clients see. */
export interface SchemaChange {
  readonly id: string;
  readonly level: 'BREAKING' | 'DANGEROUS' | 'SAFE';
  readonly kind: string;
  /** The schema coordinate of what changes. */
  readonly coordinate: string;
  readonly message: string;
  /** Missing in checks that are older than usage. */
  readonly decision?: ChangeDecision;
}

/** A change that a check does not pass, and has no room to list. */
export interface UnlistedChange {
  readonly id: string;
  readonly verdict: 'FAIL' | 'NOT_ENOUGH_DATA';
}

/** A registered operation that is not valid for a schema. */
export interface InvalidOperation {
  readonly hash: string;
  readonly name: string;
  readonly client: string;
  readonly messages: readonly string[];
}

/** What a check has found of a contract. */
export interface ContractCheck {
  readonly name: string;
  readonly problems: readonly CompositionProblem[];
  readonly changes: readonly (SchemaChange & { readonly isApproved: boolean })[];
}

/** What a check has found. */
export interface CheckResult {
  readonly problems: readonly CompositionProblem[];
  readonly hints: readonly CompositionProblem[];
  /** Where the second composer differs, and what the lint rules find. */
  readonly disagreements: readonly string[];
  readonly lint: readonly CompositionProblem[];
  /** Breaking changes first. `isApproved`: by an approval before the check. */
  readonly changes: readonly (SchemaChange & { readonly isApproved: boolean })[];
  /** The further ones that are not passed or approved, of the contracts too: at most 10,000. Missing in checks that are older than the list. */
  readonly unlisted?: readonly UnlistedChange[];
  readonly brokenOperations: readonly InvalidOperation[];
  /** By name; undefined in checks that are older than contracts. */
  readonly contracts?: readonly ContractCheck[];
  /** What the changes were decided by; null when nothing was recorded. Missing in checks that are older than usage. */
  readonly usage?: CheckedUsage | null;
  /** Null when there was nothing to compare with. Missing in checks that are older than the comparison of costs. */
  readonly costs?: CheckedCosts | null;
}

/** What a change does to the costs of operations. */
export interface CheckedCosts extends Omit<FoundCosts, 'operations'> {
  /** `isApproved`: by an approval before the check. */
  readonly operations: readonly (GrownOperation & { readonly isApproved: boolean })[];
  /** The ids of those that are above the limit, were not before, and were not approved. */
  readonly overLimit: readonly string[];
}

/** The usage that a check has looked at. */
export interface CheckedUsage {
  /** How many of the days that were looked at have requests, at most the days since the first recorded request. */
  readonly days: number;
  /** False when not every operation could be looked at. */
  readonly isComplete: boolean;
  readonly operations: number;
  readonly requests: number;
}

/** A check that ran. */
export interface Check {
  readonly id: string;
  readonly environment: string;
  readonly subgraphs: readonly string[];
  readonly launchId: string | null;
  readonly result: CheckResult;
  readonly actor: string;
  readonly createdAt: Date;
  readonly approval: Approval | null;
}

/** That the breaking changes of a check are accepted. */
export interface Approval {
  readonly approver: string;
  readonly reason: string;
  readonly actor: string;
  readonly createdAt: Date;
}

/** An operation that a client has registered. */
export interface Operation {
  readonly id: string;
  readonly environment: string;
  readonly client: string;
  readonly hash: string;
  readonly name: string;
  readonly text: string;
  readonly createdAt: Date;
}

/** A token, without its secret. */
export interface Token {
  readonly id: string;
  readonly name: string;
  readonly scopes: readonly TokenScope[];
  /** Null: not limited. */
  readonly subgraphs: readonly string[] | null;
  readonly environments: readonly string[] | null;
  readonly createdAt: Date;
  readonly revokedAt: Date | null;
}
