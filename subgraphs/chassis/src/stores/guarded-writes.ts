/** Writes that check version and rule in the statement itself, so that nothing can change in between, and explain why no row matched. */
import { isDeepStrictEqual } from 'node:util';
import type { Fault } from '@trestle/schema/errors';
import { fail } from '@trestle/schema/errors';
import { type ExpectedVersions, gone, notFound, versionMismatch } from '../request/faults.ts';
import type { Clock } from '../values/clock.ts';

interface Versioned {
  readonly id: string | number;
  readonly version: number;
}

/** The conditions on the row to write. */
export type Guard<Row extends Versioned, Rule = object> = { id: Row['id']; version?: { in: number[] } } & Partial<Rule>;

/** How to find out why a write matched no row. */
export interface Explanation<Row extends Versioned> {
  /** What messages call the resource. */
  readonly noun: string;
  readonly find: (where: { id: Row['id'] }) => PromiseLike<readonly Row[]>;
  /** Finds the tombstones with these ids. Absent where nothing is ever deleted. */
  readonly findDeleted?: (ids: readonly string[]) => PromiseLike<readonly unknown[]>;
}

/** What an update is created from. */
export interface GuardedUpdateOptions<Row extends Versioned, Change extends object, Rule extends object> extends Omit<
  Explanation<Row>,
  'find'
> {
  readonly clock: Clock;
  readonly find: (where: Guard<Row, Rule>) => PromiseLike<readonly Row[]>;
  /** A single statement that updates the row if it meets the conditions, and returns it. */
  readonly update: (args: {
    where: Guard<Row, Rule>;
    data: Partial<Change> & { updatedAt?: Date; version: { increment: number } };
  }) => PromiseLike<readonly Row[]>;
}

/** A rule of the domain as a condition on the row, and the message of the error when it does not hold. */
export interface WriteRule<Rule> {
  readonly where: Rule;
  readonly otherwise: string;
}

/** What a write expects of the row. */
export interface Expectation<Rule = object> {
  readonly expectedVersions: ExpectedVersions;
  readonly rule?: WriteRule<Rule>;
}

/**
 * Creates the function that changes a row: it reads the row, then checks and writes it in one statement. A change to the values that the row
 * has returns the row as it is: its version grows with each change, and only then (contract §2). The function throws NOT_FOUND, GONE,
 * PRECONDITION_FAILED for another version, or BUSINESS_RULE_VIOLATION where the rule does not hold, and then has changed nothing.
 */
export function createGuardedUpdate<Row extends Versioned, Change extends object, Rule extends object = object>(
  options: GuardedUpdateOptions<Row, Change, Rule>,
): (id: Row['id'], change: Change, expectation: Expectation<Rule>) => Promise<Row> {
  const { clock, find, update } = options;
  const explanation: Explanation<Row> = { ...options, find: (where) => find(where as Guard<Row, Rule>) };
  return async (id, change, { expectedVersions, rule }) => {
    const where = { ...toGuard<Row, Rule>(id, expectedVersions), ...rule?.where };
    const data = { ...change, updatedAt: clock(), version: { increment: 1 } };
    let [row] = await find(where);
    // Also a row that has the values is written, with the same version: the statement waits for concurrent writes, after which it may have others.
    if (row && hasValues(row, change)) [row] = await update({ where, data: { version: { increment: 0 } } as typeof data });
    if (row && !hasValues(row, change)) [row] = await update({ where, data });
    if (!row) throw await explainMiss(explanation, id, { expectedVersions, ...(rule && { rule }) });
    return row;
  };
}

/** Returns whether the row has these values. A column that is not read is taken for a changed one. */
function hasValues(row: object, values: object): boolean {
  const columns = new Map<string, unknown>(Object.entries(row));
  return Object.entries(values).every(([column, value]) => value === undefined || isDeepStrictEqual(columns.get(column), value));
}

/** What a deletion is created from. */
export interface GuardedDeleteOptions<Row extends Versioned, Deleted> extends Explanation<Row> {
  /** A single statement that deletes the row if it meets the conditions, and leaves a tombstone; undefined when no row met them. */
  readonly remove: (where: Guard<Row>) => PromiseLike<Deleted | undefined>;
}

/**
 * Creates the function that deletes a row and returns what `remove` does.
 * It throws PRECONDITION_FAILED or NOT_FOUND; deleting again is NOT_FOUND (contract §2).
 */
export function createGuardedDelete<Row extends Versioned, Deleted>(
  options: GuardedDeleteOptions<Row, Deleted>,
): (id: Row['id'], expectedVersions: ExpectedVersions) => Promise<Deleted> {
  return async (id, expectedVersions) => {
    const deleted = await options.remove(toGuard<Row, object>(id, expectedVersions));
    if (deleted !== undefined) return deleted;
    const miss = await explainMiss(options, id, { expectedVersions });
    throw miss.code === 'GONE' ? notFound(options.noun, id) : miss;
  };
}

/** Returns the error of a write that matched no row. */
export async function explainMiss<Row extends Versioned>(
  { noun, find, findDeleted }: Explanation<Row>,
  id: Row['id'],
  { expectedVersions, rule }: Expectation<unknown>,
): Promise<Fault> {
  const [row] = await find({ id });
  if (!row) return (await findDeleted?.([String(id)]))?.length ? gone(noun, id) : notFound(noun, id);
  if (expectedVersions && !expectedVersions.includes(row.version)) return versionMismatch(noun, row);
  if (rule) return fail('BUSINESS_RULE_VIOLATION', rule.otherwise);
  return fail('CONFLICT', `The ${noun} was changed by another request at the same time. Retry the request.`);
}

function toGuard<Row extends Versioned, Rule>(id: Row['id'], expectedVersions: ExpectedVersions): Guard<Row, Rule> {
  return { id, ...(expectedVersions && { version: { in: [...expectedVersions] } }) } as Guard<Row, Rule>;
}
