/** The resolvers of usage in registry.graphql, and of what checks have found by it. */
import { fail } from '@trestle/schema/errors';
import { type Page, toFirst } from './page.ts';
import type { RegistryContext } from './context.ts';
import { type AffectedClient, type AffectedOperation, changeVerdictOf } from '../composition/decision.ts';
import type { Release, SchemaChange } from '../records.ts';
import { percentileMs } from '../usage/percentile.ts';
import { firstDayOf } from '../usage/recorded-usage.ts';
import type { ClientUsage, FieldUsage, OperationUsage, UsageTotal } from '../usage/usage-records.ts';
import { type UsageReads, type UsageWindow, createUsageReads } from '../usage/usage-reads.ts';

const MAX_DAYS = 400;
const ID = /^\d{1,18}$/;

/** What the fields of a type below `Environment.usage` read. */
export interface UsageSource extends UsageWindow {
  readonly days: number;
  readonly reads: UsageReads;
  /** Read once for all fields that need it. */
  readonly total: () => Promise<UsageTotal>;
}

/** Returns the usage of the environment that a release represents. */
export function findUsage({ environment }: Release, { days }: { readonly days: number }, { registry }: RegistryContext): UsageSource {
  if (days < 1 || days > MAX_DAYS)
    throw fail('VALIDATION_ERROR', 'The request is not valid', {
      details: [{ field: 'days', message: `must be 1 to ${String(MAX_DAYS)}` }],
    });
  const reads = createUsageReads(registry.database.query);
  const window = { environment, from: firstDayOf(days, registry.now()) };
  let total: Promise<UsageTotal> | undefined;
  return { ...window, days, reads, total: () => (total ??= reads.readTotal(window)) };
}

type After = Page & { readonly after?: string | null };
type Shared<T> = T & { readonly percent: number };

/** Adds the share of all requests. */
async function share<T extends { readonly requests: number }>({ total }: UsageSource, found: Promise<readonly T[]>): Promise<Shared<T>[]> {
  const [{ requests: all }, items] = await Promise.all([total(), found]);
  return items.map((item) => ({ ...item, percent: all === 0 ? 0 : Math.round((item.requests / all) * 1e6) / 1e4 }));
}

function listOperations(source: UsageSource, { coordinate, after, ...page }: After & { readonly coordinate?: string | null }) {
  const uses = coordinate == null ? null : toUses(coordinate);
  return share(source, source.reads.listOperations(source, { first: toFirst(page), after: after ?? null, uses }));
}

/** An input field or an enum value may also be given by a variable of its type; a type alone stands for such variables. */
function toUses(coordinate: string): string[] {
  const [type = ''] = coordinate.split('.', 1);
  return type === coordinate ? [coordinate, `<${coordinate}?`] : [coordinate, `<${type}?`];
}

async function findOperation(source: UsageSource, { hash }: { readonly hash: string }): Promise<Shared<OperationUsage> | undefined> {
  const [found] = await share(
    source,
    source.reads.findOperation(source, hash).then((each) => (each ? [each] : [])),
  );
  return found;
}

function listClients(source: UsageSource, { operation, after, ...page }: After & { readonly operation?: string | null }) {
  if (after != null && !ID.test(after))
    throw fail('VALIDATION_ERROR', 'The request is not valid', { details: [{ field: 'after', message: 'must be the id of a client' }] });
  return share<ClientUsage>(
    source,
    source.reads.listClients(source, { first: toFirst(page), after: after ?? null, operation: operation ?? null }),
  );
}

function listFields(source: UsageSource, { type, after, ...page }: After & { readonly type?: string | null }) {
  return share<FieldUsage>(source, source.reads.listFields(source, { first: toFirst(page), after: after ?? null, type: type ?? null }));
}

/** The resolvers of all fields that are not properties. */
export const usageResolvers = {
  EnvironmentUsage: {
    since: async ({ total }: UsageSource) => (await total()).since,
    requests: async ({ total }: UsageSource) => (await total()).requests,
    errors: async ({ total }: UsageSource) => (await total()).errors,
    operations: listOperations,
    operation: findOperation,
    clients: listClients,
    fields: listFields,
    hours: (source: UsageSource, { operation }: { readonly operation: string }) => source.reads.listHours(source, operation),
  },
  OperationUsage: {
    p50Ms: ({ durations }: OperationUsage) => percentileMs(durations, 0.5),
    p95Ms: ({ durations }: OperationUsage) => percentileMs(durations, 0.95),
  },
  SchemaChange: {
    verdict: changeVerdictOf,
    affected: ({ decision }: SchemaChange) => decision?.affected ?? [],
    affectedCount: ({ decision }: SchemaChange) => decision?.affectedCount ?? 0,
  },
  AffectedOperation: { lastSeen: ({ lastSeen }: AffectedOperation) => new Date(lastSeen) },
  AffectedClient: { lastSeen: ({ lastSeen }: AffectedClient) => new Date(lastSeen) },
};
