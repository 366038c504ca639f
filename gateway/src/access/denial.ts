/** A field that the caller may not read, because its rules are not met, and the error for it (contract §3, §5). */
import type { Caller } from '@trestle/identity';
import type { RefusalReason } from '@trestle/identity/credentials/challenge';
import { insufficientScope, nearestAlternative } from '@trestle/identity/required-scopes';
import { type ErrorCode, Fault, fail } from '@trestle/schema/errors';
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
  readonly extensions: {
    readonly code: ErrorCode;
    readonly coordinate: string;
    readonly reason?: RefusalReason;
    readonly requiredScopes?: readonly string[];
  };
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

/**
 * What happens to an operation with denied fields: they are removed, or the whole operation is refused. `unprotected` protects nothing: the fields are
 * returned to every caller, and the operation is only reported.
 */
export const DENIED_FIELD_MODES = ['remove', 'refuse', 'unprotected'] as const;
export type DeniedFieldMode = (typeof DENIED_FIELD_MODES)[number];

/** The warning at the start, and at a change, of a gateway that protects nothing. */
export const UNPROTECTED_WARNING =
  'authorization.deniedFields is unprotected: @authenticated, @requiresScopes and @policy protect nothing, every caller gets every field';

/** The fault of an operation that is refused because of its denied fields. */
export class DeniedOperation extends Fault {
  /** The error of each field. */
  readonly errors: readonly DenialError[];

  constructor(errors: readonly DenialError[], caller: Caller | null) {
    const wanted = [...new Set(errors.flatMap(({ extensions: { requiredScopes = [] } }) => requiredScopes))];
    const message = 'The caller may not read all fields of the operation.';
    super(caller ? 'FORBIDDEN' : 'UNAUTHORIZED', message, wanted.length > 0 ? { requiredScopes: wanted } : {});
    this.errors = errors;
  }
}

/** Throws DeniedOperation, with UNAUTHORIZED or FORBIDDEN, when these variables select a denied field. `conditions` are the variables with defaults. */
export function refuseDenied(denials: readonly Denial[], conditions: Readonly<Record<string, unknown>>, caller: Caller | null): void {
  const errors = toDenialErrors(denials, conditions, caller);
  if (errors.length > 0) throw new DeniedOperation(errors, caller);
}

/** Returns the fault of a denied field: UNAUTHORIZED for an anonymous caller, FORBIDDEN for one that lacks a scope or a policy. */
export function toDenialFault({ coordinate, rules }: Denial, caller: Caller | null): Fault {
  if (!caller) return fail('UNAUTHORIZED', `Field \`${coordinate}\` requires authentication. Send a valid access token.`);
  const wanted = rules.flatMap((rule) => (rule.kind === 'scopes' ? nearestAlternative(rule.anyOf, caller.scopes) : []));
  if (wanted.length === 0) return fail('FORBIDDEN', `Field \`${coordinate}\` is not allowed for this caller by its policy.`);
  return insufficientScope(`Field \`${coordinate}\``, [...new Set(wanted)]);
}
