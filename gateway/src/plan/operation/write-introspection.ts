/**
 * Writes the value of a `__schema` or `__type` field as JSON, without building it as objects first: a document of 300 bytes can select megabytes.
 * Introspection types are all object types, so no runtime types are resolved.
 */
import {
  type FieldNode,
  type FragmentDefinitionNode,
  GraphQLError,
  type GraphQLField,
  type GraphQLObjectType,
  type GraphQLResolveInfo,
  type GraphQLSchema,
  Kind,
  SchemaMetaFieldDef,
  type SelectionSetNode,
  TypeMetaFieldDef,
  TypeNameMetaFieldDef,
  getArgumentValues,
  getNamedType,
  getNullableType,
  isListType,
  isObjectType,
} from 'graphql';
import { areMet, readConditions } from '../selections/selection.ts';

export interface IntrospectionWriterOptions {
  readonly schema: GraphQLSchema;
  readonly fragments: ReadonlyMap<string, FragmentDefinitionNode>;
  /** The variables with their defaults, coerced to their types. */
  readonly variables: Readonly<Record<string, unknown>>;
  /** The largest size of all texts of this writer together, in bytes. */
  readonly maxBytes: number;
}

/** A field of a selection set, ready to be written for any object of the set's type. */
interface SelectedField {
  /** `"key":` */
  readonly label: string;
  readonly resolve: (source: unknown) => unknown;
  readonly isList: boolean;
  /** Returns the fields of the objects; undefined for a leaf. */
  readonly select: (() => readonly SelectedField[]) | undefined;
}

/** The number of characters that are encoded at a time. */
const CHUNK_LENGTH = 8192;

/** Writes introspection fields of one operation. */
export class IntrospectionWriter {
  readonly #options: IntrospectionWriterOptions;
  readonly #encoder = new TextEncoder();
  /** The fields of selection sets that no other set is merged with, so that fragments which are spread often are read once. */
  readonly #known = new Map<SelectionSetNode, readonly SelectedField[]>();
  #text = '';
  #chunks: Uint8Array[] = [];
  /** The bytes of all chunks so far, those of other fields too. */
  #bytes = 0;

  constructor(options: IntrospectionWriterOptions) {
    this.#options = options;
  }

  /** Returns the value of a root field as JSON in UTF-8, which its selections `nodes` have in common. Throws a GraphQLError when it is too large. */
  write(nodes: readonly FieldNode[]): Uint8Array {
    const [first] = nodes;
    if (!first) throw new Error('A field has at least one selection.');
    const before = this.#bytes;
    const definition = first.name.value === '__schema' ? SchemaMetaFieldDef : TypeMetaFieldDef;
    const { resolve, select } = this.#toField(definition, nodes);
    try {
      this.#writeValue(resolve(undefined), select);
      this.#flush();
      const bytes = new Uint8Array(this.#bytes - before);
      let at = 0;
      for (const chunk of this.#chunks) {
        bytes.set(chunk, at);
        at += chunk.length;
      }
      return bytes;
    } catch (error) {
      if (error instanceof TooLarge) throw toLimitError(nodes, this.#options.maxBytes);
      throw error;
    } finally {
      this.#text = '';
      this.#chunks = [];
    }
  }

  #writeValue(value: unknown, select: SelectedField['select']): void {
    if (value === undefined || value === null) this.#put('null');
    // Strings, booleans, and enum values, whose names are their values.
    else if (!select) this.#put(JSON.stringify(value));
    else {
      let separator = '{';
      for (const field of select()) {
        this.#put(separator + field.label);
        separator = ',';
        const member = field.resolve(value);
        if (field.isList && member !== undefined && member !== null) this.#writeList(member as readonly unknown[], field.select);
        else this.#writeValue(member, field.select);
      }
      this.#put(separator === '{' ? '{}' : '}');
    }
  }

  #writeList(items: readonly unknown[], select: SelectedField['select']): void {
    let separator = '[';
    for (const item of items) {
      this.#put(separator);
      separator = ',';
      this.#writeValue(item, select);
    }
    this.#put(separator === '[' ? '[]' : ']');
  }

  #put(text: string): void {
    this.#text += text;
    if (this.#text.length >= CHUNK_LENGTH) this.#flush();
  }

  #flush(): void {
    const chunk = this.#encoder.encode(this.#text);
    this.#text = '';
    this.#chunks.push(chunk);
    this.#bytes += chunk.length;
    if (this.#bytes > this.#options.maxBytes) throw new TooLarge();
  }

  #toField(definition: GraphQLField<unknown, unknown>, nodes: readonly FieldNode[]): SelectedField {
    const { schema, variables } = this.#options;
    const [first] = nodes as readonly [FieldNode];
    const given = definition.args.length === 0 ? {} : getArgumentValues(definition, first, variables);
    const info = { schema } as GraphQLResolveInfo;
    const { resolve } = definition;
    const type = getNamedType(definition.type);
    const sets = nodes.flatMap(({ selectionSet }) => selectionSet ?? []);
    return {
      label: `${JSON.stringify(first.alias?.value ?? first.name.value)}:`,
      resolve: (source) => resolve?.(source, given, undefined, info),
      isList: isListType(getNullableType(definition.type)),
      select: isObjectType(type) ? once(() => this.#select(type, sets)) : undefined,
    };
  }

  #select(type: GraphQLObjectType, sets: readonly SelectionSetNode[]): readonly SelectedField[] {
    const [first] = sets;
    const known = sets.length === 1 && first ? this.#known.get(first) : undefined;
    if (known) return known;
    const fields = Array.from(this.#collect(sets), (nodes): SelectedField => {
      const name = nodes[0]?.name.value ?? '';
      if (name !== TypeNameMetaFieldDef.name) return this.#toField(type.getFields()[name] as GraphQLField<unknown, unknown>, nodes);
      return { ...this.#toField(TypeNameMetaFieldDef, nodes), resolve: () => type.name };
    });
    if (sets.length === 1 && first) this.#known.set(first, fields);
    return fields;
  }

  /** Returns the selections of each response key, in the order of the first (GraphQL §6.3.2). */
  #collect(sets: readonly SelectionSetNode[]): Iterable<FieldNode[]> {
    const { fragments, variables } = this.#options;
    const byKey = new Map<string, FieldNode[]>();
    const visited = new Set<string>();
    const visit = ({ selections }: SelectionSetNode): void => {
      for (const selection of selections) {
        const conditions = readConditions(selection);
        if (conditions === 'never' || !areMet(conditions, variables)) continue;
        if (selection.kind === Kind.FIELD) {
          const key = selection.alias?.value ?? selection.name.value;
          const nodes = byKey.get(key);
          if (nodes) nodes.push(selection);
          else byKey.set(key, [selection]);
        } else if (selection.kind === Kind.INLINE_FRAGMENT) visit(selection.selectionSet);
        else if (!visited.has(selection.name.value)) {
          visited.add(selection.name.value);
          const fragment = fragments.get(selection.name.value);
          if (fragment) visit(fragment.selectionSet);
        }
      }
    };
    sets.forEach(visit);
    return byKey.values();
  }
}

class TooLarge extends Error {}

function toLimitError(nodes: readonly FieldNode[], maxBytes: number): GraphQLError {
  return new GraphQLError(`The introspection result exceeds the limit of ${String(maxBytes)} bytes. Select fewer fields.`, {
    nodes,
    extensions: { code: 'VALIDATION_ERROR' },
  });
}

function once<T>(make: () => T): () => T {
  let made: { readonly value: T } | undefined;
  return () => (made ??= { value: make() }).value;
}
