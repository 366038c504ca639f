/** What a REST resource is: which GraphQL fields stand behind its own, and how their values are shown (spec §2.6). */

/** One field of a representation. */
export interface FieldView {
  /** What to ask the gateway for, e.g. `name` or `customer { id name }`. */
  readonly select: string;
  /** What else to ask for, when the value is made of two. */
  readonly beside?: string;
  /** From what was selected to what is shown; the value itself when absent. */
  readonly show?: (value: unknown, beside: unknown) => unknown;
  /** Whether other resources show through, so that this one's own last change says nothing of the value. */
  readonly isForeign?: boolean;
  /** JSON Schema of the value, where it can't be told from the GraphQL type. */
  readonly schema?: object;
}

/** A related resource that comes along when a client asks for it by `include`. */
export interface Inclusion {
  /** Wraps the related resource's own selection, e.g. `(inner) => \`posts { ${inner} }\``. */
  readonly select: (inner: string) => string;
  /** The related data in what was selected: a list or one. */
  readonly find: (data: Record<string, unknown>) => unknown;
  readonly resource: () => Resource;
}

export interface Resource {
  /** The GraphQL type. */
  readonly type: string;
  /** Everything that `fields` may name. */
  readonly fields: Readonly<Record<string, FieldView>>;
  /** What is shown when `fields` is absent, in this order. */
  readonly usual: readonly string[];
  readonly include: Readonly<Record<string, Inclusion>>;
  /** Whether the GraphQL type has a version, for the ETag. */
  readonly isVersioned: boolean;
  /** Link relations, and the GraphQL fields they are made from (spec §2.6). */
  readonly links?: {
    readonly select: string;
    readonly show: (data: Record<string, unknown>, prefix: string) => Readonly<Record<string, Link>>;
  };
}

export interface Link {
  readonly href: string;
  readonly method?: string;
}

/** What a guarded field shows to those who may not see it (contract §3). */
export const MASK = '***@masked.invalid';

/** Fields that are shown as they are. */
export function plain<const Names extends readonly string[]>(...names: Names): Record<Names[number], FieldView> {
  return Object.fromEntries(names.map((name) => [name, { select: name }])) as Record<Names[number], FieldView>;
}

/** An enum, shown in lower case (spec §2.6). */
export function lowerCase(name: string): FieldView {
  return { select: name, show: (value) => (typeof value === 'string' ? value.toLowerCase() : value) };
}

/** A related account: its id and name. */
export function person(name: string): FieldView {
  return {
    select: `${name} { id name }`,
    isForeign: true,
    schema: {
      description: 'The account; null once it is deleted.',
      type: ['object', 'null'],
      properties: { id: { type: 'string' }, name: { type: 'string' } },
      required: ['id', 'name'],
    },
  };
}
