/** Compiles `fields` and `include` of a resource into a GraphQL selection and into the function that shows what came back. No I/O. */
import type { Shape } from '../query/shape.ts';
import type { Shown } from '../routes/row.ts';
import { resourceAt } from '../versions/transform.ts';
import { type FieldView, MASK, type Resource } from './resource.ts';

export interface Projection {
  /** The GraphQL selection, without its braces. */
  readonly selection: string;
  /** Shows one resource; `prefix` goes in front of the links. */
  readonly show: (data: unknown, prefix: string) => Shown;
}

type Data = Record<string, unknown>;

/**
 * A field that is not just named as in GraphQL is asked for under an alias of its own, so that two fields may look at the same GraphQL
 * field differently, and the version, the links' data and the inclusions under theirs. Aliases are limited: where none is needed, none is used.
 */
export function createProjection(original: Resource, { fields, include }: Shape, version: number): Projection {
  const resource = resourceAt(original, version);
  const views = (fields ?? resource.usual)
    .map((name) => [name, resource.fields[name]] as const)
    .filter((entry): entry is [string, FieldView] => entry[1] !== undefined);
  const inclusions = include.flatMap((name) => {
    const inclusion = resource.include[name];
    return inclusion
      ? [{ name, inclusion, inner: createProjection(inclusion.resource(), { fields: undefined, include: [] }, version) }]
      : [];
  });
  const links = fields === undefined ? resource.links : undefined;
  const linkNames = links ? namesOf(links.select) : [];
  const isForeign = inclusions.length > 0 || views.some(([, view]) => view.isForeign === true);
  const { isVersioned } = resource;
  const selection = [
    ...views.flatMap(([name, { select, beside }]) => [
      select === name ? name : `${name}: ${select}`,
      ...(beside === undefined ? [] : [`_beside_${name}: ${beside}`]),
    ]),
    ...(isVersioned ? ['_version: version', ...(isForeign ? [] : ['_changedAt: updatedAt'])] : []),
    ...(links ? [prefixed('_link_', links.select)] : []),
    ...inclusions.map(({ name, inclusion, inner }) => `_include_${name}: ${inclusion.select(inner.selection)}`),
  ];
  return {
    selection: selection.length > 0 ? selection.join(' ') : '__typename',
    show(raw, prefix) {
      const data = raw as Data;
      const body: Data = {};
      const masked: string[] = [];
      for (const [name, { show, beside }] of views) {
        const value = show ? show(data[name], beside === undefined ? undefined : data[`_beside_${name}`]) : data[name];
        body[name] = value;
        if (value === MASK) masked.push(name);
      }
      for (const { name, inclusion, inner } of inclusions) {
        const found = inclusion.find({ [firstName(inclusion.select(''))]: data[`_include_${name}`] });
        body[name] = showAll(found, (part) => (typeof part === 'object' ? inner.show(part, prefix).body : part));
      }
      if (masked.length > 0) body['_masked'] = masked;
      if (links) body['_links'] = links.show(Object.fromEntries(linkNames.map((name) => [name, data[`_link_${name}`]])), prefix);
      return { body, version: data['_version'] as number | undefined, changedAt: data['_changedAt'] as string | undefined };
    },
  };
}

function showAll(value: unknown, show: (part: unknown) => unknown): unknown {
  if (value === null || value === undefined) return null;
  return Array.isArray(value) ? value.map(show) : show(value);
}

function firstName(selection: string): string {
  return /^\w+/.exec(selection)?.[0] ?? '';
}

/** `id customer { id }` has the names `id` and `customer`. */
function namesOf(selection: string): string[] {
  return Array.from(selection.matchAll(TOP_LEVEL), ([, name = '']) => name);
}

/** `id customer { id }` becomes `_link_id: id _link_customer: customer { id }`. */
function prefixed(prefix: string, selection: string): string {
  return selection.replace(TOP_LEVEL, (whole, name: string) => `${prefix}${name}: ${whole}`);
}

const TOP_LEVEL = /(\w+)(?:\s*\{[^}]*\})?/g;
