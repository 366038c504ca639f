/** Applies a version's changes: to resources for answers, to bodies for requests (spec §9). No I/O. */
import type { FieldFault } from '@trestle/schema/errors';
import type { FieldView, Resource } from '../reply/resource.ts';
import { type MoneyChange, changesUpTo } from './changelog.ts';

const remembered = new Map<string, Resource>();

/** The resource as a version shows it; version 1 is how it is written down. */
export function resourceAt(resource: Resource, version: number): Resource {
  const changes = moneyChanges(version).filter((change) => change.resource === resource.type);
  const fields = changes.reduce(withMoney, resource.fields);
  if (changes.length === 0) return resource;
  // Several resources may stand for one type: what is shown as usual, and what may come along, tells them apart.
  const key = [version, resource.type, resource.usual, Object.keys(resource.include)].join(' ');
  const known = remembered.get(key);
  if (known) return known;
  const changed = { ...resource, fields, usual: resource.usual.filter((name) => Object.hasOwn(fields, name)) };
  remembered.set(key, changed);
  return changed;
}

function withMoney(fields: Resource['fields'], { field, currency }: MoneyChange): Resource['fields'] {
  const money: FieldView = {
    select: field,
    beside: 'replaces' in currency ? currency.replaces : currency.select,
    show: (amount, code) => ({ amount, currency: code }),
    schema: { $ref: '#/components/schemas/Money' },
  };
  const kept = Object.entries(fields).filter(([name]) => !('replaces' in currency) || name !== currency.replaces);
  return Object.fromEntries(kept.map(([name, view]) => [name, name === field ? money : view]));
}

/** How the fields of an input are sent in this version: those named here are money objects, and stand for two fields. */
export function moneyInputs(input: string, version: number): readonly { readonly field: string; readonly currency: string }[] {
  return moneyChanges(version).flatMap(({ inputs, field, currency }) =>
    inputs.includes(input) && 'replaces' in currency ? [{ field, currency: currency.replaces }] : [],
  );
}

/** Turns the money objects of a body into the two fields that version 1 has for each; adds a fault for one that is none. */
export function toFirstVersion(
  body: Readonly<Record<string, unknown>>,
  { input, version, faults }: { readonly input: string; readonly version: number; readonly faults: FieldFault[] },
): Record<string, unknown> {
  return moneyInputs(input, version).reduce<Record<string, unknown>>((first, { field, currency }) => {
    const { [field]: money, [currency]: beside, ...rest } = first;
    if (beside !== undefined) faults.push({ field: currency, message: `stands inside of ${field} in this version` });
    if (money === undefined || money === null) return { ...rest, ...(money === null && { [field]: money }) };
    if (isMoney(money)) return { ...rest, [field]: money.amount, [currency]: money.currency };
    faults.push({ field, message: 'must be an object {amount, currency}' });
    // So that nobody tells that they are missing.
    return { ...rest, [field]: 0, [currency]: '' };
  }, body);
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

function moneyChanges(version: number): MoneyChange[] {
  return changesUpTo(version).filter((change) => change.kind === 'money');
}
