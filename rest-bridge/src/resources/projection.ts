/** Compiles `fields` and `include` of a resource into a GraphQL selection set and a function that represents the selected data. No I/O. */
import { type FieldNode, Kind, type NameNode, type OperationDefinitionNode, type SelectionSetNode, parse, print } from 'graphql';
import type { FieldSelection } from '../query/field-selection.ts';
import { resourceAtVersion } from './resource-at-version.ts';
import type { Representation } from './representation.ts';
import { type FieldView, type Inclusion, MASK, NEED_PREFIX, type Resource } from './resource.ts';

/** A compiled field selection. */
export interface Projection {
  readonly selectionSet: SelectionSetNode;
  /** Returns the representation of one resource; `prefix` is the version prefix of its links. */
  readonly represent: (data: unknown, prefix: string) => Representation;
}

type Data = Record<string, unknown>;

/** The prefix of the response keys under which included resources are selected. */
export const INCLUDE_PREFIX = '_include_';
const LINK_PREFIX = '_link_';
const BESIDE_PREFIX = '_beside_';

interface CompiledField extends FieldView {
  readonly name: string;
}

interface CompiledInclusion {
  readonly name: string;
  readonly field: FieldNode;
  readonly represent: (data: unknown, prefix: string) => unknown;
}

/**
 * Creates the projection of a resource in an API version. Each representation field has its own response key, so that two of them can
 * select the same GraphQL field; so have the version, the data of links, and each included resource. A field whose name equals that of
 * its GraphQL field gets no alias, because the gateway limits the number of aliases.
 */
export function createProjection(original: Resource, { fields, include }: FieldSelection, version: number): Projection {
  const resource = resourceAtVersion(original, version);
  const views = (fields ?? resource.defaultFields).flatMap((name): CompiledField[] => {
    const view = resource.fields[name];
    return view ? [{ name, ...view }] : [];
  });
  const inclusions = include.flatMap((name) => {
    const inclusion = resource.include[name];
    return inclusion ? [compileInclusion(name, inclusion, version)] : [];
  });
  const links = fields === undefined ? resource.links : undefined;
  const linkFields = links ? parseSelections(links.select) : [];
  const needed = resource.needs === undefined ? [] : parseSelections(resource.needs);
  const isForeign = inclusions.length > 0 || views.some((view) => view.isForeign === true);
  const selections = [
    ...views.flatMap(toViewSelections),
    ...(resource.isVersioned ? parseSelections(`_version: version ${isForeign ? '' : '_changedAt: updatedAt'}`) : []),
    ...linkFields.map((field) => withAlias(field, LINK_PREFIX + field.name.value)),
    ...needed.map((field) => withAlias(field, NEED_PREFIX + field.name.value)),
    ...inclusions.map(({ field }) => field),
  ];
  return {
    selectionSet: { kind: Kind.SELECTION_SET, selections: selections.length > 0 ? selections : parseSelections('__typename') },
    represent(raw, prefix) {
      const data = raw as Data;
      const body = representFields(views, data);
      for (const { name, represent } of inclusions) body[name] = represent(data[INCLUDE_PREFIX + name], prefix);
      const masked = findMasked(views, body);
      if (masked) body['_masked'] = masked;
      if (links) {
        const linkData = Object.fromEntries(linkFields.map(({ name }) => [name.value, data[LINK_PREFIX + name.value]]));
        body['_links'] = links.toLinks(linkData, prefix);
      }
      return { body, version: data['_version'] as number | undefined, changedAt: data['_changedAt'] as string | undefined };
    },
  };
}

function representFields(views: readonly CompiledField[], data: Data): Data {
  const body: Data = {};
  for (const { name, toValue, selectBeside } of views) {
    const beside = selectBeside === undefined ? undefined : data[BESIDE_PREFIX + name];
    body[name] = toValue ? toValue(data[name], beside) : data[name];
  }
  return body;
}

/** Returns the names of masked fields; undefined when there are none. */
function findMasked(views: readonly CompiledField[], body: Data): string[] | undefined {
  let masked: string[] | undefined;
  for (const { name } of views) if (body[name] === MASK) (masked ??= []).push(name);
  return masked;
}

function toViewSelections({ name, select, selectBeside }: CompiledField): FieldNode[] {
  const own = parseSelections(select).map((field) => (field.name.value === name ? field : withAlias(field, name)));
  const beside = selectBeside === undefined ? [] : parseSelections(selectBeside);
  return [...own, ...beside.map((field) => withAlias(field, BESIDE_PREFIX + name))];
}

function compileInclusion(name: string, inclusion: Inclusion, version: number): CompiledInclusion {
  const related = createProjection(inclusion.resource(), { fields: undefined, include: [] }, version);
  const inner = related.selectionSet.selections.map(print).join(' ');
  const [field] = parseSelections(inclusion.select(inner));
  if (!field) throw new Error(`Inclusion ${name} selects no field`);
  return {
    name,
    field: withAlias(field, INCLUDE_PREFIX + name),
    represent(data, prefix) {
      const found = inclusion.find({ [field.name.value]: data });
      const representOne = (one: unknown) => (typeof one === 'object' ? related.represent(one, prefix).body : one);
      if (found === null || found === undefined) return null;
      return Array.isArray(found) ? found.map(representOne) : representOne(found);
    },
  };
}

/** Returns the fields of a selection set that is written without its braces. */
function parseSelections(selection: string): readonly FieldNode[] {
  const [operation] = parse(`{ ${selection} }`, { noLocation: true }).definitions;
  return (operation as OperationDefinitionNode).selectionSet.selections as readonly FieldNode[];
}

function withAlias(field: FieldNode, value: string): FieldNode {
  const alias: NameNode = { kind: Kind.NAME, value };
  return { ...field, alias };
}
