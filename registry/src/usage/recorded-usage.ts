/** What clients sent, in the form in which checks decide by it (packages/graph-checks). */
import { DEFAULT_POLICY, type UsagePolicy } from '@trestle/graph-checks/policy';
import type { ClientUsage, RecordedUsage } from '@trestle/graph-checks/usage';
import { type FieldFault, rejectFaults } from '@trestle/schema/errors';
import type { UsageReads } from './usage-reads.ts';

/** How checks look at usage, where a request does not say otherwise. */
export interface CheckDefaults extends Pick<UsagePolicy, 'enoughDays' | 'enoughRequests' | 'maxCost' | 'assumedListSize'> {
  /** The days that are looked at. */
  readonly days: number;
}

/** What a request for a check may say; null and undefined stand for the default. */
export type PolicyInput = {
  readonly [Name in keyof UsagePolicy | 'days']?: (Name extends keyof UsagePolicy ? UsagePolicy[Name] : number) | null | undefined;
};

/** More operations than these are not read: a check then never says that nothing uses a change. */
const MAX_OPERATIONS = 10_000;
/** More operations of clients than these are not read either. */
const MAX_USERS = 200_000;
const MAX_DAYS = 400;
/** That of the setting of the gateway. */
const MAX_LIST_SIZE = 1_000_000;
const MAX_COUNT = 2_147_483_647;
const DAY_MS = 86_400_000;

/** Returns the policy of a check and the days that it looks at. Throws VALIDATION_ERROR for values out of range. */
export function readPolicy(input: PolicyInput | null | undefined, { days, ...defaults }: CheckDefaults) {
  // The enum values of the API are those of the policy in capitals.
  const given = Object.fromEntries(
    Object.entries(input ?? {}).flatMap(([name, value]) =>
      value == null ? [] : [[name, typeof value === 'string' ? value.toLowerCase() : value]],
    ),
  );
  const policy = { ...DEFAULT_POLICY, ...defaults, days, ...given } as UsagePolicy & { readonly days: number };
  const check = (field: keyof typeof policy, min: number, max: number): FieldFault[] => {
    const value = policy[field] as number;
    return value >= min && value <= max ? [] : [{ field: `policy.${field}`, message: `must be ${String(min)} to ${String(max)}` }];
  };
  rejectFaults([
    ...check('days', 1, MAX_DAYS),
    ...check('minimumCount', 1, MAX_COUNT),
    ...check('minimumPercent', 0, 100),
    ...check('enoughRequests', 0, MAX_COUNT),
    ...check('enoughDays', 0, MAX_DAYS),
    ...check('maxCost', 0, MAX_COUNT),
    ...check('assumedListSize', 0, MAX_LIST_SIZE),
  ]);
  // Of a shorter window, all days are enough.
  return { ...policy, enoughDays: Math.min(policy.enoughDays, policy.days) };
}

/** Returns the first day of a window of so many days that ends today, as `2026-01-31`. */
export function firstDayOf(days: number, now: number): string {
  return new Date(Math.floor(now / DAY_MS) * DAY_MS - (days - 1) * DAY_MS).toISOString().slice(0, 10);
}

export interface UsageQuestion {
  readonly environment: string;
  readonly days: number;
  readonly now: number;
}

/**
 * Returns what was recorded; undefined when nothing ever was. It is not complete with operations whose text is not known, and with more than a check
 * reads.
 */
export async function readRecordedUsage(
  { environment, days, now }: UsageQuestion,
  reads: Pick<UsageReads, 'readTotal' | 'listTexts' | 'listUsers'>,
): Promise<RecordedUsage | undefined> {
  const window = { environment, from: firstDayOf(days, now) };
  const { since, recordedDays } = await reads.readTotal(window);
  if (!since) return undefined;
  const operations = await reads.listTexts(window, MAX_OPERATIONS + 1);
  const clients = new Map<string, ClientUsage[]>(operations.map(({ id }) => [id, []]));
  const users = await reads.listUsers(window, MAX_USERS + 1);
  const isComplete = operations.length <= MAX_OPERATIONS && users.length <= MAX_USERS && operations.every(({ text }) => text !== null);
  for (const { operation, name, version, requests, lastSeen } of users)
    clients.get(operation)?.push({ name: name || null, version: version || null, count: requests, lastSeen: lastSeen.toISOString() });
  return {
    // The first day may be long ago, and reports may have been missing since.
    days: Math.min(Math.floor((now - since.getTime()) / DAY_MS), recordedDays),
    isComplete,
    operations: operations.map(({ id, hash, name, text }) => ({ hash, name, text: text ?? '', clients: clients.get(id) ?? [] })),
  };
}
