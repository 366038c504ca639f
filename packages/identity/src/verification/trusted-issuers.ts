/** The issuers besides ours whose access tokens are accepted: parses their configuration file. No I/O. */
import * as z from 'zod';
import { PLANS, ROLES } from '../identity.ts';
import { ASYMMETRIC_ALGORITHMS } from '../tokens/key-set.ts';
import { isScopeName } from '../scopes.ts';

const DEFAULT_LIFETIME_SECONDS = 60 * 60;
/** No issuer may be given more: a revocation of one of its tokens is kept as long. */
const MAX_LIFETIME_SECONDS = 30 * 24 * 60 * 60;
/** For clocks that differ. */
const REVOCATION_MARGIN_SECONDS = 5 * 60;
const MAX_ISSUERS = 20;
const LOOPBACK = new Set(['127.0.0.1', '[::1]', 'localhost']);

const url = () =>
  z.string().refine(isSafeUrl, 'must be an https URL without credentials, query and fragment; http is allowed for loopback addresses only');
/** The name of a claim, or the path to one inside of others, such as `["realm_access", "roles"]`. */
const claim = () =>
  z.union([
    z
      .string()
      .min(1)
      .transform((name) => [name]),
    z.array(z.string().min(1)).min(1).max(5),
  ]);
const names = () =>
  z.union([
    z
      .string()
      .min(1)
      .transform((name) => [name]),
    z.array(z.string().min(1)).min(1).max(20),
  ]);
/** Scopes of any graph. `account:manage` is about accounts of ours, which callers of other issuers do not have. */
const scope = z.string().refine(isForeignScope, 'must be the name of a scope other than account:manage');

const issuer = z.strictObject({
  name: z.string().regex(/^[a-z][a-z0-9-]{0,30}$/, 'must be 1 to 31 lower-case letters, digits and hyphens'),
  issuer: url(),
  audience: names(),
  jwksUrl: url().optional(),
  algorithms: z
    .array(z.enum(ASYMMETRIC_ALGORITHMS as [string, ...string[]]))
    .min(1)
    .default(['RS256', 'ES256']),
  types: z
    .array(z.enum(['at+jwt', 'JWT']))
    .min(1)
    .default(['at+jwt']),
  maxLifetimeSeconds: z.int().min(1).max(MAX_LIFETIME_SECONDS).default(DEFAULT_LIFETIME_SECONDS),
  clockToleranceSeconds: z.int().min(0).max(120).default(5),
  userClaim: z.string().min(1).default('sub'),
  roles: z.strictObject({ claim: claim(), map: z.record(z.string(), z.enum(ROLES)), default: z.enum(ROLES).optional() }).optional(),
  /** Without `map` its scopes mean the same here. */
  scopes: z.strictObject({ claim: claim(), map: z.record(z.string(), z.array(scope)).optional() }).optional(),
  requireJti: z.boolean().default(true),
  plan: z.enum(PLANS).default('free'),
});

/** An issuer whose tokens are accepted, and what its claims mean here. */
export type TrustedIssuer = z.output<typeof issuer>;

const document = z.strictObject({ issuers: z.array(issuer).max(MAX_ISSUERS) }).superRefine(({ issuers }, context) => {
  for (const field of ['name', 'issuer'] as const)
    if (new Set(issuers.map((each) => each[field])).size < issuers.length)
      context.addIssue({ code: 'custom', message: `two issuers have the same \`${field}\``, path: ['issuers'] });
});

/** Parses the file (docs/operations.md describes it). Throws an Error that names every fault, a SyntaxError when it is not JSON. */
export function parseTrustedIssuers(text: string): readonly TrustedIssuer[] {
  const result = document.safeParse(JSON.parse(text));
  if (result.success) return result.data.issuers;
  throw new Error(result.error.issues.map(({ path, message }) => `${path.join('.')} ${message}`).join('; '));
}

/** Returns for how many seconds a revocation of a token of one of these issuers is kept; see `createRevocations`. */
export function toRevocationSeconds(issuers: readonly TrustedIssuer[] = []): number {
  const lifetimes = issuers.map(({ maxLifetimeSeconds }) => maxLifetimeSeconds);
  return Math.max(DEFAULT_LIFETIME_SECONDS, ...lifetimes) + REVOCATION_MARGIN_SECONDS;
}

/** Returns whether a caller of another issuer can have this scope. */
export function isForeignScope(name: string): boolean {
  return isScopeName(name) && name !== 'account:manage';
}

function isSafeUrl(text: string): boolean {
  if (!URL.canParse(text)) return false;
  const { protocol, hostname, username, password, search, hash } = new URL(text);
  const isProtected = protocol === 'https:' || (protocol === 'http:' && LOOPBACK.has(hostname));
  return isProtected && username === '' && password === '' && search === '' && hash === '';
}
