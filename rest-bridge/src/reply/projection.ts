/** Compiles `fields` and `include` of a resource into a GraphQL selection and into the function that shows what came back. No I/O. */
import type { Shape } from '../query/shape.ts';
import type { Shown } from '../routes/row.ts';
import { type FieldView, MASK, type Resource } from './resource.ts';

export interface Projection {
  /** The GraphQL selection, without its braces. */
  readonly selection: string;
  /** Shows one resource; `prefix` goes in front of the links. */
  readonly show: (data: unknown, prefix: string) => Shown;
}

type Data = Record<string, unknown>;

/**
 * Each field is asked for under an alias of its own, so that two fields may look at the same GraphQL field differently,
 * and the version, the links' data and the inclusions under theirs.
 */
export function createProjection(resource: Resource, { fields, include }: Shape): Projection {
  const views = (fields ?? resource.usual)
    .map((name) => [name, resource.fields[name]] as const)
    .filter((entry): entry is [string, FieldView] => entry[1] !== undefined);
  const inclusions = include.flatMap((name) => {
    const inclusion = resource.include[name];
    return inclusion ? [{ name, inclusion, inner: createProjection(inclusion.resource(), { fields: undefined, include: [] }) }] : [];
  });
  const links = fields === undefined ? resource.links : undefined;
  const selection = [
    ...views.map(([name, { select }]) => `${name}: ${select}`),
    ...(resource.isVersioned ? ['_version: version'] : []),
    ...(links ? [prefixed('_link_', links.select)] : []),
    ...inclusions.map(({ name, inclusion, inner }) => `_include_${name}: ${inclusion.select(inner.selection)}`),
  ];
  return {
    selection: selection.length > 0 ? selection.join(' ') : '__typename',
    show(raw, prefix) {
      const data = raw as Data;
      const body: Data = {};
      const masked: string[] = [];
      for (const [name, { show }] of views) {
        body[name] = show ? show(data[name]) : data[name];
        if (body[name] === MASK) masked.push(name);
      }
      for (const { name, inclusion, inner } of inclusions) {
        const found = inclusion.find({ [firstName(inclusion.select(''))]: data[`_include_${name}`] });
        body[name] = showAll(found, (part) => (typeof part === 'object' ? inner.show(part, prefix).body : part));
      }
      if (masked.length > 0) body['_masked'] = masked;
      if (links) body['_links'] = links.show(unprefixed('_link_', data), prefix);
      return { body, version: data['_version'] as number | undefined };
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

/** `id customer { id }` becomes `_link_id: id _link_customer: customer { id }`. */
function prefixed(prefix: string, selection: string): string {
  return selection.replace(/(\w+)(\s*\{[^}]*\})?/g, (whole, name: string) => `${prefix}${name}: ${whole}`);
}

function unprefixed(prefix: string, data: Data): Data {
  return Object.fromEntries(
    Object.entries(data).flatMap(([name, value]) => (name.startsWith(prefix) ? [[name.slice(prefix.length), value]] : [])),
  );
}
