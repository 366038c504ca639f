/** The challenge of a response that refuses a credential (spec §5.7, RFC 6750 §3). No I/O. */
import type { ErrorCode, Fault, SecondFactorDemand } from '@trestle/schema/errors';
import { isScopeName } from '../scopes.ts';

/** The value of `WWW-Authenticate` when the request has no credential. */
export const CHALLENGE = 'Bearer realm="api"';

/** Names the reason of a refusal in GraphQL errors, as `extensions.reason`: the error codes of RFC 6750 §3.1, and one of ours. */
export type RefusalReason = 'invalid_token' | 'insufficient_scope' | 'second_factor_required';

/** The parts of an error that decide its challenge: those of a Fault, or the same values from the extensions of a GraphQL error. */
export interface Refusal {
  readonly code: ErrorCode;
  readonly isInvalidCredential?: boolean;
  readonly requiredScopes?: readonly string[] | undefined;
  readonly secondFactor?: SecondFactorDemand | undefined;
}

/** Returns why a credential was refused; undefined for an error of another kind, and for a request without a credential. */
export function toRefusalReason({ code, isInvalidCredential, requiredScopes, secondFactor }: Refusal): RefusalReason | undefined {
  if (code === 'UNAUTHORIZED' && secondFactor) return 'second_factor_required';
  if (code === 'UNAUTHORIZED' && isInvalidCredential === true) return 'invalid_token';
  return code === 'FORBIDDEN' && requiredScopes !== undefined ? 'insufficient_scope' : undefined;
}

/**
 * Returns the value of `WWW-Authenticate`: the realm alone when the request has no credential, with `error="invalid_token"` when its
 * credential is invalid, and with `error="insufficient_scope"` and the scopes when the credential lacks them. Returns undefined for other
 * errors, which have no such header.
 */
export function toChallenge(refusal: Refusal): string | undefined {
  const reason = toRefusalReason(refusal);
  if (reason === undefined || reason === 'second_factor_required') return refusal.code === 'UNAUTHORIZED' ? CHALLENGE : undefined;
  const scope = reason === 'insufficient_scope' ? `, scope="${(refusal.requiredScopes ?? []).join(' ')}"` : '';
  return `${CHALLENGE}, error="${reason}"${scope}`;
}

/** The extensions of a GraphQL error that say why a credential was refused. */
export interface RefusalExtensions {
  readonly reason?: RefusalReason;
  readonly requiredScopes?: readonly string[];
  readonly secondFactor?: SecondFactorDemand;
}

/** Returns the extensions of the GraphQL error for a Fault; empty for an error of another kind. */
export function toRefusalExtensions(fault: Fault): RefusalExtensions {
  const reason = toRefusalReason(fault);
  if (reason === undefined) return {};
  const { requiredScopes, secondFactor } = fault;
  return { reason, ...(requiredScopes && { requiredScopes }), ...(secondFactor && { secondFactor }) };
}

/** The options of a Fault that say why a credential was refused. */
export interface RefusalOptions {
  readonly isInvalidCredential?: boolean;
  readonly requiredScopes?: readonly string[];
  readonly secondFactor?: SecondFactorDemand;
}

/** Parses the extensions of a GraphQL error that another process sent. Values of another form count as absent. */
export function readRefusalExtensions(extensions: Readonly<Record<string, unknown>> | undefined): RefusalOptions {
  const { reason, requiredScopes, secondFactor } = extensions ?? {};
  if (reason === 'invalid_token') return { isInvalidCredential: true };
  if (reason === 'second_factor_required' && isDemand(secondFactor)) return { secondFactor };
  if (reason !== 'insufficient_scope' || !Array.isArray(requiredScopes)) return {};
  return { requiredScopes: requiredScopes.filter((scope): scope is string => typeof scope === 'string' && isScopeName(scope)) };
}

function isDemand(value: unknown): value is SecondFactorDemand {
  const { challenge, methods } = (value ?? {}) as Partial<Record<keyof SecondFactorDemand, unknown>>;
  return typeof challenge === 'string' && Array.isArray(methods);
}
