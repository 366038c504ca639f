/** The rules of webhooks (contract §4). Pure: no database, no clock. */
import { checkString } from '@trestle/chassis/values/strings';
import { type Caller, hasRole } from '@trestle/identity';
import type { Scope } from '@trestle/identity/scopes';
import { type FieldFault, fail, rejectFaults } from '@trestle/schema/errors';
import { lengthOf } from '@trestle/schema/lengths';
import { checkTypes } from '../journal/rules.ts';

/** Why a webhook is disabled. */
export type DisabledReason = 'OWNER' | 'GONE' | 'FAILURES';

/** A webhook as the store returns it, without its secrets. */
export interface Webhook {
  readonly id: string;
  readonly userId: string;
  readonly name: string;
  readonly url: string;
  readonly types: readonly string[];
  readonly isEnabled: boolean;
  readonly disabledReason: DisabledReason | null;
  readonly previousSecretExpiresAt: Date | null;
  readonly failingSince: Date | null;
  readonly createdAt: Date;
  readonly updatedAt: Date;
  readonly version: number;
}

/** A webhook with its secret, which is shown once. */
export interface CreatedWebhook {
  readonly secret: string;
  readonly webhook: Webhook;
}

/** A new webhook that can be written, without its secret. */
export type NewWebhook = Pick<Webhook, 'userId' | 'name' | 'url'> & { readonly types: string[] };

/** A change that can be written. */
export interface WebhookChange {
  readonly name?: string;
  readonly url?: string;
  readonly types?: string[];
  readonly isEnabled?: boolean;
  readonly disabledReason?: DisabledReason | null;
  readonly failingSince?: null;
}

/** What a client sends to create or to change a webhook. */
export interface WebhookInput {
  readonly name?: string | null;
  readonly url?: string | null;
  readonly types?: readonly string[] | null;
  readonly isEnabled?: boolean | null;
}

/** What addresses may be. */
export interface AddressRule {
  /** Whether `http` and addresses of private networks are allowed (WEBHOOK_ALLOW_PRIVATE). */
  readonly allowsPrivate: boolean;
  /** Returns why no request is sent to this host, or undefined. */
  readonly findFault: (url: URL) => string | undefined;
}

/** The most webhooks of an account. */
export const MAX_WEBHOOKS = 20;
const MANAGE: Scope = 'webhooks:manage';
const NAME = { field: 'name', ...lengthOf('CreateWebhookInput.name') };
const URL_LENGTH = { field: 'url', ...lengthOf('CreateWebhookInput.url') };
const DEFAULT_OVERLAP_HOURS = 24;
const MAX_OVERLAP_HOURS = 168;
const HOUR_MS = 3_600_000;

/** Throws FORBIDDEN unless the caller has the scope `webhooks:manage`. */
export function allowManaging(caller: Caller): Caller {
  if (caller.scopes.has(MANAGE)) return caller;
  throw fail('FORBIDDEN', `Managing webhooks requires the scope \`${MANAGE}\`.`, { requiredScopes: [MANAGE] });
}

/** Whose webhooks a caller may see: those of all accounts, of one, or of none. */
export type WebhookVisibility = { readonly all: true } | { readonly all: false; readonly userId: string | null };

/** Administrators see all webhooks, other callers their own, and callers without the scope none. */
export function webhookVisibilityOf(caller: Caller | null): WebhookVisibility {
  if (!caller?.scopes.has(MANAGE)) return { all: false, userId: null };
  return hasRole(caller, 'ADMIN') ? { all: true } : { all: false, userId: caller.userId };
}

/** Returns the account whose webhooks are listed. Throws FORBIDDEN when a caller other than an administrator names another one. */
export function parseListing(caller: Caller, userId: string | null | undefined): string {
  const listed = userId ?? caller.userId;
  if (listed !== caller.userId && !hasRole(caller, 'ADMIN'))
    throw fail('FORBIDDEN', 'Listing the webhooks of another account requires the role ADMIN.');
  return listed;
}

/** Parses a new webhook of the caller. Throws VALIDATION_ERROR with every fault. */
export function parseNewWebhook({ userId }: Caller, { name, url, types }: WebhookInput, rule: AddressRule): NewWebhook {
  const wanted = [...new Set(types ?? ['*'])];
  rejectFaults([...checkString(name ?? null, NAME), ...checkUrl(url ?? null, rule), ...checkTypes(wanted, 'types')]);
  return { userId, name: name ?? '', url: toUrl(url), types: wanted };
}

/**
 * Parses a change of a webhook. To enable it, and to give it another address, forgets its failures, which were those of the former one. Throws
 * VALIDATION_ERROR with every fault.
 */
export function parseWebhookChange(
  { name, url, types, isEnabled }: WebhookInput,
  rule: AddressRule,
  webhook: Pick<Webhook, 'url'>,
): WebhookChange {
  rejectFaults([
    ...(name === undefined ? [] : checkString(name, NAME)),
    ...(url === undefined ? [] : checkUrl(url, rule)),
    ...(types === null ? [{ field: 'types', message: 'must not be null' }] : types ? checkTypes(types, 'types') : []),
    ...(isEnabled === null ? [{ field: 'isEnabled', message: 'must not be null' }] : []),
  ]);
  const address = url == null ? webhook.url : toUrl(url);
  return {
    ...(name != null && { name }),
    ...(url != null && { url: address, ...(address !== webhook.url && { failingSince: null }) }),
    ...(types && { types: [...new Set(types)] }),
    ...(isEnabled === true && { isEnabled, disabledReason: null, failingSince: null }),
    ...(isEnabled === false && { isEnabled, disabledReason: 'OWNER' as const }),
  };
}

/** Parses how long both secrets sign, in milliseconds. Throws VALIDATION_ERROR. */
export function parseOverlap(input: { readonly overlapHours?: number | null } | null | undefined): number {
  const hours = input?.overlapHours ?? DEFAULT_OVERLAP_HOURS;
  if (hours < 0 || hours > MAX_OVERLAP_HOURS)
    rejectFaults([{ field: 'overlapHours', message: `must be 0 to ${String(MAX_OVERLAP_HOURS)}` }]);
  return hours * HOUR_MS;
}

/** Throws BUSINESS_RULE_VIOLATION for a webhook that gets nothing. */
export function requireEnabled({ id, isEnabled }: Pick<Webhook, 'id' | 'isEnabled'>): void {
  if (!isEnabled) throw fail('BUSINESS_RULE_VIOLATION', `Webhook ${id} is disabled. Enable it first.`);
}

function toUrl(url: string | null | undefined): string {
  return new URL(url ?? '').href;
}

function checkUrl(value: string | null, { allowsPrivate, findFault }: AddressRule): FieldFault[] {
  const faults = checkString(value, URL_LENGTH);
  if (faults.length > 0 || value === null) return faults;
  const message = URL.canParse(value)
    ? (findUrlFault(new URL(value), allowsPrivate) ?? findFault(new URL(value)))
    : 'must be an absolute URL';
  return message === undefined ? [] : [{ field: 'url', message }];
}

function findUrlFault({ protocol, username, password, hash, href }: URL, allowsPrivate: boolean): string | undefined {
  if (protocol !== 'https:' && !(allowsPrivate && protocol === 'http:')) return 'must start with https://';
  if (username !== '' || password !== '') return 'must not contain a user name or password: requests are signed';
  if (hash !== '') return 'must not contain a fragment';
  return href.length > URL_LENGTH.max ? `must have at most ${String(URL_LENGTH.max)} characters` : undefined;
}
