/** Prints the document of a fetch with its fields in the order of the client's response. */
import {
  type DirectiveNode,
  type FieldNode,
  Kind,
  type OperationDefinitionNode,
  type SelectionNode,
  type SelectionSetNode,
  print,
  stripIgnoredCharacters,
} from 'graphql';
import type { Condition } from '../selections/selection.ts';
import { withoutUnusedVariables } from '../corrections/split-fetch.ts';
import { type RequestedFetch, entitiesOf } from './requested-fetch.ts';
import { type RequestedField, type RequestedObject, Unsupported, conditionsIn } from './requested-object.ts';

const TYPENAME: FieldNode = { kind: Kind.FIELD, name: { kind: Kind.NAME, value: '__typename' } };

/** Returns the document. Throws Unsupported where the order cannot be written. A condition that nothing needs any more leaves no variable behind. */
export function printFetch({ definition, tops, source }: RequestedFetch): string {
  const selectionSet = source.step.entities
    ? orderEntities(
        definition,
        tops.map(({ object }) => object),
      )
    : orderRoot(tops[0]?.object);
  const { document } = withoutUnusedVariables({ kind: Kind.DOCUMENT, definitions: [{ ...definition, selectionSet }] });
  return stripIgnoredCharacters(print(document));
}

function orderRoot(root: RequestedObject | undefined): SelectionSetNode {
  if (!root) throw new Unsupported('a fetch of nothing');
  return toSet(selectionsOf(root));
}

function orderEntities(definition: OperationDefinitionNode, tops: readonly RequestedObject[]): SelectionSetNode {
  const field = entitiesOf(definition);
  const fragments = tops.map((each) => toFragment(each));
  // Entities of several types differ by their names.
  return toSet([{ ...field, selectionSet: toSet(tops.length > 1 ? [TYPENAME, ...fragments] : fragments) }]);
}

function selectionsOf({ items }: RequestedObject): FieldNode[] {
  return items.flatMap((item) => (item.kind === 'field' ? [toField(item.field)] : []));
}

function toField(field: RequestedField): FieldNode {
  const { nodes, when, cases, isAbstract } = field;
  const [node] = nodes;
  const own = (node.directives ?? []).filter(({ name }) => name.value !== 'skip' && name.value !== 'include');
  const [object] = cases;
  const selectionSet = isAbstract ? orderCases(field) : object && toSet(selectionsOf(object));
  return { ...node, directives: [...own, ...toDirectives(when)], ...(selectionSet && { selectionSet }) };
}

/** Objects of an abstract type have their name first. Only types that the planner named are named, because a subgraph may not know the others. */
function orderCases({ nodes, cases }: RequestedField): SelectionSetNode {
  const named = new Set(nodes.flatMap(({ selectionSet }) => (selectionSet ? conditionsIn(selectionSet) : [])));
  const parts = cases.map((each) => ({ name: each.type.name, fields: selectionsOf(each) }));
  const [first] = parts;
  if (first && named.size === 0) {
    const text = printAll(first.fields);
    if (parts.some(({ fields }) => printAll(fields) !== text)) throw new Unsupported('types with fields in different orders');
    return toSet([TYPENAME, ...first.fields]);
  }
  const isComplete =
    parts.every(({ name, fields }) => fields.length === 0 || named.has(name)) &&
    [...named].every((name) => parts.some((each) => each.name === name));
  if (!isComplete) throw new Unsupported('fields of an interface beside those of its types');
  return toSet([TYPENAME, ...cases.filter((each) => selectionsOf(each).length > 0).map(toFragment)]);
}

function toFragment(object: RequestedObject): SelectionNode {
  return {
    kind: Kind.INLINE_FRAGMENT,
    typeCondition: { kind: Kind.NAMED_TYPE, name: { kind: Kind.NAME, value: object.type.name } },
    selectionSet: toSet(selectionsOf(object)),
  };
}

/** A directive may stand once at a field. */
function toDirectives(when: readonly Condition[]): DirectiveNode[] {
  const directives = when.map(({ variable, isTrue }): DirectiveNode => ({
    kind: Kind.DIRECTIVE,
    name: { kind: Kind.NAME, value: isTrue ? 'include' : 'skip' },
    arguments: [
      {
        kind: Kind.ARGUMENT,
        name: { kind: Kind.NAME, value: 'if' },
        value: { kind: Kind.VARIABLE, name: { kind: Kind.NAME, value: variable } },
      },
    ],
  }));
  if (new Set(directives.map(({ name }) => name.value)).size < directives.length) throw new Unsupported('a field with several conditions');
  return directives;
}

function toSet(selections: readonly SelectionNode[]): SelectionSetNode {
  if (selections.length === 0) throw new Unsupported('an empty selection set');
  return { kind: Kind.SELECTION_SET, selections };
}

function printAll(fields: readonly FieldNode[]): string {
  return fields.map((each) => print(each)).join();
}
