/** What the writes of every store have in common: version and rule are checked by the write itself, and a miss is explained. */
import type { Clock } from '@trestle/chassis/values/clock';
import { fail } from '@trestle/schema/errors';

/** Versions that a write accepts; undefined accepts any, an empty list none. */
export type ExpectedVersions = readonly number[] | null | undefined;

interface Versioned {
  readonly id: string;
  readonly version: number;
}

/** Which row to write, and only if it is as the caller thinks. */
type Guarded<Rule> = { id: string; version?: { in: number[] } } & Partial<Rule>;

export interface GuardedWritesOptions<Row extends Versioned, Change extends object, Rule extends object> {
  /** What clients call the thing. */
  readonly noun: string;
  readonly clock: Clock;
  readonly find: (where: Guarded<Rule>) => PromiseLike<Row[]>;
  readonly update: (args: {
    where: Guarded<Rule>;
    data: Change & { updatedAt: Date; version: { increment: number } };
  }) => PromiseLike<Row[]>;
  readonly remove: (where: Guarded<Rule>) => PromiseLike<{ count: number }>;
  readonly findDeleted: (ids: readonly string[]) => PromiseLike<readonly { id: string }[]>;
}

export interface GuardedWrites<Row, Change, Rule> {
  /**
   * Changes a row in one statement; a change of nothing gives the row as it is. Throws GONE, NOT_FOUND, PRECONDITION_FAILED for another
   * version, or BUSINESS_RULE_VIOLATION where the rule does not hold, and then has changed nothing.
   */
  readonly update: (
    id: string,
    change: Change,
    guard: { readonly expectedVersions: ExpectedVersions; readonly rule?: WriteRule<Rule> },
  ) => Promise<Row>;
  /** Throws PRECONDITION_FAILED or NOT_FOUND; deleting again is NOT_FOUND (contract §2). The database leaves the tombstone. */
  readonly delete: (id: string, expectedVersions: ExpectedVersions) => Promise<void>;
}

/** A rule of the domain as a condition on the row, and what to say when it does not hold. */
export interface WriteRule<Rule> {
  readonly where: Rule;
  readonly otherwise: string;
}

/** The rows come and go by the callbacks of one store: each must be a single statement. */
export function createGuardedWrites<Row extends Versioned, Change extends object, Rule extends object = object>(
  options: GuardedWritesOptions<Row, Change, Rule>,
): GuardedWrites<Row, Change, Rule> {
  const { noun, clock, find, update, remove, findDeleted } = options;
  const missing = () => fail('NOT_FOUND', `There is no such ${noun}`);

  async function explainMiss(id: string, expectedVersions: ExpectedVersions, otherwise?: string): Promise<Error> {
    const [row] = await find({ id } as Guarded<Rule>);
    if (!row) return (await findDeleted([id])).length > 0 ? fail('GONE', `The ${noun} was deleted`) : missing();
    if (expectedVersions && !expectedVersions.includes(row.version))
      return fail('PRECONDITION_FAILED', `The ${noun} has another version than expected`);
    return otherwise === undefined
      ? fail('CONFLICT', `The ${noun} was changed at the same moment; try again`)
      : fail('BUSINESS_RULE_VIOLATION', otherwise);
  }

  return {
    async update(id, change, { expectedVersions, rule }) {
      const where = { ...guard<Rule>(id, expectedVersions), ...rule?.where };
      const data = { ...change, updatedAt: clock(), version: { increment: 1 } };
      const [row] = Object.keys(change).length > 0 ? await update({ where, data }) : await find(where);
      if (!row) throw await explainMiss(id, expectedVersions, rule?.otherwise);
      return row;
    },

    async delete(id, expectedVersions) {
      const { count } = await remove(guard<Rule>(id, expectedVersions));
      if (count > 0) return;
      const miss = await explainMiss(id, expectedVersions);
      throw 'code' in miss && miss.code === 'GONE' ? missing() : miss;
    },
  };
}

function guard<Rule>(id: string, expectedVersions: ExpectedVersions): Guarded<Rule> {
  return { id, ...(expectedVersions && { version: { in: [...expectedVersions] } }) } as Guarded<Rule>;
}
