/** Applies the changes of API versions to resources (spec §9). No I/O. */
import type { MoneyChange } from '../versions/changelog.ts';
import { moneyChangesUpTo } from '../versions/money-input.ts';
import type { FieldView, Resource } from './resource.ts';

/** By version: resources are constants of the route tables. */
const caches = new Map<number, WeakMap<Resource, Resource>>();

/** Returns the resource as `version` represents it. The definitions in `resources.ts` are those of version 1. */
export function resourceAtVersion(resource: Resource, version: number): Resource {
  const cache = caches.get(version) ?? new WeakMap<Resource, Resource>();
  const known = cache.get(resource);
  if (known) return known;
  const changed = applyChanges(resource, version);
  caches.set(version, cache.set(resource, changed));
  return changed;
}

function applyChanges(resource: Resource, version: number): Resource {
  const changes = moneyChangesUpTo(version).filter((change) => change.resource === resource.type);
  if (changes.length === 0) return resource;
  const fields = changes.reduce(withMoney, resource.fields);
  return { ...resource, fields, defaultFields: resource.defaultFields.filter((name) => Object.hasOwn(fields, name)) };
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
