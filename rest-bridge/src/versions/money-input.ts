/** Turns the money objects of newer request bodies into the two fields that version 1 has for each (spec §9). No I/O. */
import type { FieldFault } from '@trestle/schema/errors';
import { type MoneyChange, changesUpTo } from './changelog.ts';

/** A field of an input that is sent as `{amount, currency}`, and the field of version 1 that its currency belongs to. */
export interface MoneyInput {
  readonly field: string;
  readonly currency: string;
}

/** Returns the fields of an input that are money objects in `version`. */
export function moneyInputs(input: string, version: number): readonly MoneyInput[] {
  return moneyChangesUpTo(version).flatMap(({ inputs, field, currency }) =>
    inputs.includes(input) && 'replaces' in currency ? [{ field, currency: currency.replaces }] : [],
  );
}

/** Returns the changes from version 1 to `version` that made an amount and a currency one object. */
export function moneyChangesUpTo(version: number): MoneyChange[] {
  return changesUpTo(version).filter((change) => change.kind === 'money');
}

/** The input type of a body, its version, and where faults are added. */
export interface MoneyInputContext {
  readonly input: string;
  readonly version: number;
  readonly faults: FieldFault[];
}

/** Names of fields of the body by those of the input, such as `amount.currency` by `currency`. */
export type BodyNames = Readonly<Record<string, string>>;

/** A body as version 1 has it. */
export interface FirstVersion {
  readonly body: Readonly<Record<string, unknown>>;
  /** Where the client has sent the fields that were split. */
  readonly names: BodyNames;
}

/** Splits each money object of a body into the two fields of version 1. Adds a fault for a value that is not a money object. */
export function toFirstVersion(sent: Readonly<Record<string, unknown>>, { input, version, faults }: MoneyInputContext): FirstVersion {
  return moneyInputs(input, version).reduce<FirstVersion>(
    (first, { field, currency }) => {
      const { [field]: money, [currency]: separateCurrency, ...rest } = first.body;
      const { names } = first;
      if (separateCurrency !== undefined)
        faults.push({ field: currency, message: `is part of ${field} in version ${String(version)}: {amount, currency}` });
      if (money === undefined || money === null) return { names, body: { ...rest, ...(money === null && { [field]: money }) } };
      if (isMoney(money)) {
        const own = { [field]: `${field}.amount`, [currency]: `${field}.currency` };
        return { names: { ...names, ...own }, body: { ...rest, [field]: money.amount, [currency]: money.currency } };
      }
      faults.push({ field, message: 'must be an object {amount, currency}' });
      // Valid values, so that the fields are not reported again as missing or beyond a limit.
      return { names, body: { ...rest, [field]: 1, [currency]: 'EUR' } };
    },
    { body: sent, names: {} },
  );
}

function isMoney(value: unknown): value is { amount: unknown; currency: unknown } {
  return (
    typeof value === 'object' &&
    value !== null &&
    Object.keys(value).every((name) => name === 'amount' || name === 'currency') &&
    'amount' in value &&
    'currency' in value
  );
}
