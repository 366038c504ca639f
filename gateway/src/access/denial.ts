/** A field that is left out of a plan because the caller does not meet its rules, and the error for it (contract §3, §5). */
import type { Caller } from '@trestle/identity';
import { insufficientScope, nearestAlternative } from '@trestle/identity/required-scopes';
import { type Fault, fail } from '@trestle/schema/errors';
import type { AccessRule } from './access-rule.ts';

/** A field of an operation that is not resolved for this caller. */
export interface Denial {
  /** The response keys down to the field; `@` stands for every item of a list. */
  readonly path: readonly string[];
  /** `Type.field`, by the type that the field is selected on. */
  readonly coordinate: string;
  /** The rules that are not met. */
  readonly rules: readonly AccessRule[];
  /** Conditions of `@skip` and `@include`, of which one list must hold: otherwise the field is not selected. */
  readonly when: readonly (readonly DenialCondition[])[];
}

export interface DenialCondition {
  readonly variable: string;
  readonly isTrue: boolean;
}

/** An error of the result, before it is formatted. */
export interface DenialError {
  readonly message: string;
  readonly path: readonly string[];
  readonly extensions: Record<string, unknown>;
}

const NONE: readonly DenialError[] = [];

/** Returns an error for each denied field that these variables select. `conditions` are the variables with defaults. */
export function toDenialErrors(
  denials: readonly Denial[],
  conditions: Readonly<Record<string, unknown>>,
  caller: Caller | null,
): readonly DenialError[] {
  if (denials.length === 0) return NONE;
  const isSelected = ({ when }: Denial) =>
    when.some((all) => all.every(({ variable, isTrue }) => (conditions[variable] === true) === isTrue));
  return denials.filter(isSelected).map((denial) => {
    const { code, message, requiredScopes } = toDenialFault(denial, caller);
    const { path, coordinate } = denial;
    return { message, path, extensions: { code, coordinate, ...(requiredScopes && { reason: 'insufficient_scope', requiredScopes }) } };
  });
}

/** Returns the fault of a denied field: UNAUTHORIZED for an anonymous caller, FORBIDDEN for one that lacks a scope or a policy. */
export function toDenialFault({ coordinate, rules }: Denial, caller: Caller | null): Fault {
  if (!caller) return fail('UNAUTHORIZED', `Field \`${coordinate}\` requires authentication. Send a valid access token.`);
  const wanted = rules.flatMap((rule) => (rule.kind === 'scopes' ? nearestAlternative(rule.anyOf, caller.scopes) : []));
  if (wanted.length === 0) return fail('FORBIDDEN', `Field \`${coordinate}\` is not allowed for this caller by its policy.`);
  return insufficientScope(`Field \`${coordinate}\``, [...new Set(wanted)]);
}
