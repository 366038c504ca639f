/** Scopes that something demands of a caller, and the error of one that lacks them (RFC 6750 §3.1). No I/O. */
import { type Fault, fail } from '@trestle/schema/errors';

/** Lists of scopes of which a caller must have one completely. `[[]]` demands a caller, and no scope of it. */
export type Alternatives = readonly (readonly string[])[];

/** Returns whether the scopes, or the policies, contain one of the alternatives completely. */
export function holdsOneOf(held: ReadonlySet<string>, anyOf: Alternatives): boolean {
  return anyOf.some((all) => all.every((name) => held.has(name)));
}

/**
 * Returns the alternative of which the fewest scopes are missing, the first of several: what to ask for (RFC 6750 §3, `scope`). Empty when
 * `anyOf` is.
 */
export function nearestAlternative(anyOf: Alternatives, scopes: ReadonlySet<string>): readonly string[] {
  const missing = (all: readonly string[]) => all.filter((scope) => !scopes.has(scope)).length;
  return anyOf.reduce<readonly string[] | undefined>((best, all) => (best && missing(best) <= missing(all) ? best : all), undefined) ?? [];
}

/** Returns FORBIDDEN with the scopes. `subject` is what demands them, as the message begins: `Field \`Order.total\``. */
export function insufficientScope(subject: string, requiredScopes: readonly string[]): Fault {
  const names = requiredScopes.map((scope) => `\`${scope}\``).join(', ');
  const [noun, pronoun] = requiredScopes.length === 1 ? ['scope', 'it'] : ['scopes', 'them'];
  return fail('FORBIDDEN', `${subject} requires the ${noun} ${names}. Use an access token with ${pronoun}.`, { requiredScopes });
}
