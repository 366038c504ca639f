/** Applies the changes of API versions to resources (spec §9). No I/O. */
import type { MoneyChange } from '../versions/changelog.ts';
import { moneyChangesUpTo } from '../versions/money-input.ts';
import type { FieldView, Resource } from './resource.ts';

const cache = new Map<string, Resource>();

/** Returns the resource as `version` represents it. The definitions in `resources.ts` are those of version 1. */
export function resourceAtVersion(resource: Resource, version: number): Resource {
  const changes = moneyChangesUpTo(version).filter((change) => change.resource === resource.type);
  if (changes.length === 0) return resource;
  // Several resources may have the same type; their default fields and inclusions tell them apart.
  const key = [version, resource.type, resource.defaultFields, Object.keys(resource.include)].join(' ');
  const known = cache.get(key);
  if (known) return known;
  const fields = changes.reduce(withMoney, resource.fields);
  const changed = { ...resource, fields, defaultFields: resource.defaultFields.filter((name) => Object.hasOwn(fields, name)) };
  cache.set(key, changed);
  return changed;
}

function withMoney(fields: Resource['fields'], { field, currency }: MoneyChange): Resource['fields'] {
  const money: FieldView = {
    select: field,
    selectBeside: 'replaces' in currency ? currency.replaces : currency.select,
    toValue: (amount, code) => ({ amount, currency: code }),
    schema: { $ref: '#/components/schemas/Money' },
  };
  const kept = Object.entries(fields).filter(([name]) => !('replaces' in currency) || name !== currency.replaces);
  return Object.fromEntries(kept.map(([name, view]) => [name, name === field ? money : view]));
}
