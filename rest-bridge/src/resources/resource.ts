/** A REST resource: the GraphQL fields behind its own, and how their values are represented (spec §2.6). */

/** One field of a representation. */
export interface FieldView {
  /** The GraphQL selection, e.g. `name` or `customer { id name }`. */
  readonly select: string;
  /** A second selection, for a value that is made from two. */
  readonly selectBeside?: string;
  /** Converts the selected value; without it the value is represented as it is. */
  readonly toValue?: (value: unknown, beside: unknown) => unknown;
  /** Whether the value comes from another resource, whose changes `updatedAt` of this one does not cover. */
  readonly isForeign?: boolean;
  /** JSON Schema of the value, when it does not follow from the GraphQL type. */
  readonly schema?: object;
}

/** A related resource that `include` adds to the representation. */
export interface Inclusion {
  /** Returns the GraphQL selection with the selection of the related resource in it: `(inner) => \`posts { ${inner} }\``. */
  readonly select: (inner: string) => string;
  /** Returns the related data, a list or one object, from the selected data. */
  readonly find: (data: Record<string, unknown>) => unknown;
  readonly resource: () => Resource;
}

/** The definition of a resource. */
export interface Resource {
  /** The GraphQL type. */
  readonly type: string;
  /** The fields that `fields` may name. */
  readonly fields: Readonly<Record<string, FieldView>>;
  /** The fields of the representation without `fields`, in their order. */
  readonly defaultFields: readonly string[];
  /** The related resources that `include` may name. */
  readonly include: Readonly<Record<string, Inclusion>>;
  /** The GraphQL selection that the route needs whatever `fields` names; its values have the prefix {@link NEED_PREFIX}. */
  readonly needs?: string;
  /** Whether the GraphQL type has a version, which the entity tag carries. */
  readonly isVersioned: boolean;
  /** Link relations, and the GraphQL selection that they are made from (spec §2.6). */
  readonly links?: {
    readonly select: string;
    readonly toLinks: (data: Record<string, unknown>, prefix: string) => Readonly<Record<string, Link>>;
  };
}

/** The prefix of the response keys of what a route needs. */
export const NEED_PREFIX = '_need_';

/** A link of `_links`. */
export interface Link {
  readonly href: string;
  /** Absent for GET. */
  readonly method?: string;
}

/** The value of a guarded field for callers that may not read it (contract §3). */
export const MASK = '***@masked.invalid';

/** Returns fields that are represented as they are. */
export function plain<const Names extends readonly string[]>(...names: Names): Record<Names[number], FieldView> {
  return Object.fromEntries(names.map((name) => [name, { select: name }])) as Record<Names[number], FieldView>;
}

/** Returns fields that are represented as they are, and whose values change while `updatedAt` of the resource does not. */
export function foreign<const Names extends readonly string[]>(...names: Names): Record<Names[number], FieldView> {
  return Object.fromEntries(names.map((name) => [name, { select: name, isForeign: true }])) as Record<Names[number], FieldView>;
}

/** Returns an enum field, represented in lower case (spec §2.6). */
export function lowerCase(name: string): FieldView {
  return { select: name, toValue: (value) => (typeof value === 'string' ? value.toLowerCase() : value) };
}

/** Returns a field for the file of a resource; null without one. */
export function fileReference(name: string): FieldView {
  return {
    select: `${name} { mediaType size sha256 }`,
    schema: {
      description: 'The content, at the path of the resource with `/content`; null without one.',
      type: ['object', 'null'],
      properties: {
        mediaType: { type: 'string' },
        size: { type: 'integer', description: 'In bytes.' },
        sha256: { type: 'string', description: 'In hexadecimal digits.' },
      },
      required: ['mediaType', 'size', 'sha256'],
    },
  };
}

/** Returns a field for a related account: its id and name. */
export function accountReference(name: string): FieldView {
  return {
    select: `${name} { id name }`,
    isForeign: true,
    schema: {
      description: 'The account; null after it was deleted.',
      type: ['object', 'null'],
      properties: { id: { type: 'string' }, name: { type: 'string' } },
      required: ['id', 'name'],
    },
  };
}
