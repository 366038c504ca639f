/** What a field demands of a caller: `@authenticated`, `@requiresScopes`, `@policy` (federation 2.5 and 2.6). Plain data and pure functions. */
import { type Alternatives, holdsOneOf } from '@trestle/identity/required-scopes';

/**
 * One directive. The lists are alternatives: a caller meets the rule when it has every scope (or policy) of one of them. A rule of another
 * `kind` is never met.
 */
export type AccessRule =
  | { readonly kind: 'authenticated' }
  | { readonly kind: 'scopes'; readonly anyOf: Alternatives }
  | { readonly kind: 'policies'; readonly anyOf: Alternatives };

/** What is known of a caller where rules are decided. Callers with the same rights share one object. */
export interface Access {
  readonly isAuthenticated: boolean;
  readonly scopes: ReadonlySet<string>;
  /** The names of the policies that hold for the caller. */
  readonly policies: ReadonlySet<string>;
  /** Whether every rule is met. */
  readonly isFull?: boolean;
}

/** The rights of an anonymous caller: none. */
export const NO_ACCESS: Access = { isAuthenticated: false, scopes: new Set(), policies: new Set() };

/** The rights of the gateway itself, for operations of its operator: every field. */
export const FULL_ACCESS: Access = { ...NO_ACCESS, isFull: true };

/** Returns whether the caller meets the rule. */
export function isMet(rule: AccessRule, { isAuthenticated, scopes, policies, isFull = false }: Access): boolean {
  if (isFull) return true;
  switch (rule.kind) {
    case 'authenticated':
      return isAuthenticated;
    case 'scopes':
      return holdsOneOf(scopes, rule.anyOf);
    case 'policies':
      return holdsOneOf(policies, rule.anyOf);
  }
}

const MET = '1';
const NOT_MET = '0';

/** Returns the outcome of each rule, in their order, as one string: equal outcomes have the same plan. */
export function decideAll(rules: readonly AccessRule[], access: Access): string {
  return rules.map((rule) => (isMet(rule, access) ? MET : NOT_MET)).join('');
}

/** Returns whether the rule at this index is met by an outcome of {@link decideAll}. */
export function isMetIn(outcome: string, index: number): boolean {
  return outcome[index] === MET;
}
