/**
 * Replaces fields with arguments that `@requires` names, and fields that `@fromContext` names. Apollo's planner distinguishes such fields by name only,
 * and would confuse one with the same field and other arguments, of the client or of another `@requires`, or with a client's alias of the same name. So
 * a stand-in, an additional field, is planned in its place.
 */
import {
  type ArgumentNode,
  type ConstDirectiveNode,
  type DocumentNode,
  type FieldDefinitionNode,
  type FieldNode,
  Kind,
  type SelectionNode,
  type SelectionSetNode,
  type TypeNode,
  parse,
  print,
  visit,
} from 'graphql';
import { patchSelections } from './contexts.ts';
import { STAND_IN } from '../selections/client-aliases.ts';
import type { FieldsNode, RequiredSelection } from '../selections/requirements.ts';

const NO_NEEDS: ReadonlySet<string> = new Set();

/** Returns the schema of clients without stand-ins. */
export function withoutStandIns(document: DocumentNode): DocumentNode {
  return visit(document, { FieldDefinition: ({ name }) => (name.value.includes(STAND_IN) ? null : undefined) });
}

/** The stand-ins of a supergraph, whose types are given by their names. */
export class StandIns {
  readonly #types: ReadonlyMap<string, FieldsNode>;
  readonly #byName = new Map<string, { readonly name: string; readonly arguments: readonly ArgumentNode[] }>();
  /** Stand-ins to be defined, by type. */
  readonly #added = new Map<string, FieldDefinitionNode[]>();
  /** Names of stand-ins by type, field and arguments. */
  readonly #known = new Map<string, string>();
  /** Names of the stand-ins that a field requires, by coordinate. */
  readonly #needs = new Map<string, Set<string>>();
  /** The types that set a context, by the name of the context. */
  readonly #contexts: ReadonlyMap<string, readonly FieldsNode[]>;

  constructor(types: ReadonlyMap<string, FieldsNode>, contexts: ReadonlyMap<string, readonly FieldsNode[]>) {
    this.#types = types;
    this.#contexts = contexts;
  }

  /** Whether there are none; known once every type has been patched. */
  get isEmpty(): boolean {
    return this.#byName.size === 0;
  }

  /** Returns the type with stand-ins in its `@requires`. */
  patchType(type: FieldsNode): FieldsNode {
    const fields = (type.fields ?? []).map((field) => ({
      ...field,
      directives: (field.directives ?? []).map((each) => this.#patchDirective(each, type, field.name.value)),
    }));
    return { ...type, fields };
  }

  /** Returns the type with the definitions of its stand-ins; every type must have been patched before. */
  addFields(type: FieldsNode): FieldsNode {
    return { ...type, fields: [...(type.fields ?? []), ...(this.#added.get(type.name.value) ?? [])] };
  }

  /** Returns the name of the field that a stand-in replaces; undefined for any other field. */
  realNameOf(field: string): string | undefined {
    return this.#byName.get(field)?.name;
  }

  /** Returns the stand-ins that a field of a type requires. */
  neededBy(type: string, field: string): ReadonlySet<string> {
    return this.#needs.get(`${type}.${field}`) ?? NO_NEEDS;
  }

  /** Returns a fetch's document with the fields that stand-ins replace. */
  restoreOperation(operation: string): string {
    if (this.isEmpty || !operation.includes(STAND_IN)) return operation;
    return print(visit(parse(operation, { noLocation: true }), { Field: (field) => this.#restore(field) }));
  }

  /** Returns a selection of a representation with the fields that stand-ins replace. */
  restoreRequired(selection: RequiredSelection): RequiredSelection {
    const selections = selection.selections?.map((each) => this.restoreRequired(each));
    if (selection.kind === 'InlineFragment') return { ...selection, selections: selections ?? [] };
    const restored = { ...selection, ...(selections && { selections }) };
    const standIn = this.#byName.get(selection.name);
    return standIn ? { ...restored, alias: selection.alias ?? selection.name, name: standIn.name } : restored;
  }

  #restore(field: FieldNode): FieldNode | undefined {
    const standIn = this.#byName.get(field.name.value);
    if (!standIn) return undefined;
    const name = { kind: Kind.NAME, value: standIn.name } as const;
    // A field that the planner has given contextual arguments keeps them.
    return { ...field, alias: field.alias ?? field.name, name, arguments: [...standIn.arguments, ...(field.arguments ?? [])] };
  }

  #patchDirective(directive: ConstDirectiveNode, type: FieldsNode, field: string): ConstDirectiveNode {
    const patched = (directive.arguments ?? []).map((argument) => {
      if (argument.name.value === 'contextArguments')
        return { ...argument, value: patchSelections(argument.value, (set, context) => this.#patchContext(set, context)) };
      if (argument.name.value !== 'requires' || argument.value.kind !== Kind.STRING) return argument;
      const [operation] = parse(`{${argument.value.value}}`, { noLocation: true }).definitions;
      if (operation?.kind !== Kind.OPERATION_DEFINITION) return argument;
      const used = new Set<string>();
      const text = print(this.#patchSet(operation.selectionSet, type, used))
        .replaceAll(/\s+/g, ' ')
        .slice(1, -1)
        .trim();
      const coordinate = `${type.name.value}.${field}`;
      this.#needs.set(coordinate, new Set([...(this.#needs.get(coordinate) ?? []), ...used]));
      return { ...argument, value: { ...argument.value, value: text, block: false } };
    });
    return { ...directive, arguments: patched };
  }

  /** Returns the selection set with stand-ins, and adds their names to `used`. */
  #patchSet(set: SelectionSetNode, type: FieldsNode | undefined, used: Set<string>): SelectionSetNode {
    const patch = (selection: SelectionNode): SelectionNode => {
      if (selection.kind === Kind.FRAGMENT_SPREAD) return selection;
      if (selection.kind === Kind.INLINE_FRAGMENT) {
        const on = selection.typeCondition ? this.#types.get(selection.typeCondition.name.value) : type;
        return { ...selection, selectionSet: this.#patchSet(selection.selectionSet, on, used) };
      }
      const definition = type?.fields?.find(({ name }) => name.value === selection.name.value);
      if (!type || !definition) return selection;
      const below = selection.selectionSet && this.#patchSet(selection.selectionSet, this.#types.get(nameOf(definition.type)), used);
      const { arguments: given = [], ...plain } = selection;
      const name = definition.arguments?.length ? this.#standInFor(type, definition, selection) : selection.name.value;
      if (name !== selection.name.value) used.add(name);
      return {
        ...plain,
        name: { kind: Kind.NAME, value: name },
        ...(name === selection.name.value && { arguments: given }),
        ...(below && { selectionSet: below }),
      };
    };
    return { ...set, selections: set.selections.map(patch) };
  }

  /** Returns what is selected of a context with stand-ins, which every type that sets the context gets. */
  #patchContext(set: SelectionSetNode, context: string): SelectionSetNode {
    const patch = ({ selections }: SelectionSetNode, types: readonly FieldsNode[]): SelectionSetNode => ({
      kind: Kind.SELECTION_SET,
      selections: selections.map((selection) => {
        if (selection.kind === Kind.FRAGMENT_SPREAD) return selection;
        if (selection.kind === Kind.INLINE_FRAGMENT) {
          const on = selection.typeCondition && this.#types.get(selection.typeCondition.name.value);
          return { ...selection, selectionSet: patch(selection.selectionSet, on ? [on] : types) };
        }
        const { arguments: given = [], ...plain } = selection;
        const own = types.flatMap((type) => (type.fields?.some(({ name }) => name.value === selection.name.value) ? [type] : []));
        // One name for all types, because all of them have one selection.
        const name = this.#nameFor(`${context} ${print(selection)}`, { name: selection.name.value, arguments: given });
        for (const type of own) this.#addTo(type, selection.name.value, name);
        return { ...plain, name: { kind: Kind.NAME, value: name } };
      }),
    });
    return patch(set, this.#contexts.get(context) ?? []);
  }

  #standInFor(type: FieldsNode, definition: FieldDefinitionNode, field: FieldNode): string {
    const given = field.arguments ?? [];
    const key = `${type.name.value}.${field.name.value}(${given.map(print).sort().join()})`;
    const name = this.#nameFor(key, { name: field.name.value, arguments: given });
    this.#addTo(type, definition.name.value, name);
    return name;
  }

  /** Returns the name of the stand-in with this key, which is created when it is new. */
  #nameFor(key: string, field: { readonly name: string; readonly arguments: readonly ArgumentNode[] }): string {
    const known = this.#known.get(key);
    if (known !== undefined) return known;
    const name = `${field.name}${STAND_IN}${String(this.#known.size)}`;
    this.#known.set(key, name);
    this.#byName.set(name, field);
    return name;
  }

  /** Adds a stand-in for a field to a type, and to the types that implement it. */
  #addTo(type: FieldsNode, field: string, name: string): void {
    for (const each of this.#types.values()) {
      if (each.name.value !== type.name.value && !each.interfaces?.some((implemented) => implemented.name.value === type.name.value))
        continue;
      const own = each.fields?.find((one) => one.name.value === field);
      if (own) this.#addField(each, own, name);
    }
  }

  #addField(type: FieldsNode, { kind, type: fieldType, directives = [] }: FieldDefinitionNode, name: string): void {
    const added = this.#added.get(type.name.value) ?? [];
    if (added.some((each) => each.name.value === name)) return;
    const field: FieldDefinitionNode = { kind, type: fieldType, directives, name: { kind: Kind.NAME, value: name } };
    this.#added.set(type.name.value, [...added, field]);
  }
}

function nameOf(type: TypeNode): string {
  return type.kind === Kind.NAMED_TYPE ? type.name.value : nameOf(type.type);
}
