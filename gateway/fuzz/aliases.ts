/** Gives fields of an operation aliases that could be taken for other fields, or for names that the gateway uses itself. */
import {
  type DocumentNode,
  type FieldNode,
  type GraphQLSchema,
  Kind,
  OverlappingFieldsCanBeMergedRule,
  TypeInfo,
  isInterfaceType,
  isObjectType,
  parse,
  print,
  validate,
  visit,
  visitWithTypeInfo,
} from 'graphql';
import type { FuzzOperation } from './operations.ts';
import type { Random } from './random.ts';

/** Response keys of the gateway, of Apollo's planner, and of requests for entities, made from the name of a field. */
const INTERNAL: readonly ((name: string) => string)[] = [
  () => '__typename',
  () => '_entities',
  () => '__owner',
  () => '__key',
  () => '__client_',
  (name) => `__client_${name}_`,
  (name) => `${name}__standIn0`,
  (name) => `${name}__alias_0`,
  (name) => `__client_${name}__alias_0`,
];

interface Place {
  readonly field: FieldNode;
  /** The names of the fields beside it. */
  readonly names: readonly string[];
}

/** Returns the operation with up to eight such aliases, each of which leaves it valid. */
export function chooseAliases({ query, variables }: FuzzOperation, schema: GraphQLSchema, random: Random): FuzzOperation {
  const all = namesIn(schema);
  let document = parse(query, { noLocation: true });
  for (let left = 1 + random.upTo(7); left > 0; left--) {
    const places = findPlaces(document, schema);
    if (places.length === 0) break;
    const { field, names } = random.pick(places);
    const keys = places.map((each) => (each.field.alias ?? each.field.name).value);
    const drawn = random.next();
    const alias =
      drawn < 0.4 && names.length > 0
        ? random.pick(names)
        : drawn < 0.6
          ? random.pick(all)
          : drawn < 0.8
            ? random.pick(keys)
            : random.pick(INTERNAL)(random.pick(names.length > 0 ? names : all));
    const changed = withAlias(document, field, alias);
    if (validate(schema, changed, [OverlappingFieldsCanBeMergedRule]).length === 0) document = changed;
  }
  return { query: print(document), variables };
}

function namesIn(schema: GraphQLSchema): string[] {
  const types = Object.values(schema.getTypeMap()).filter((type) => !type.name.startsWith('__'));
  return [...new Set(types.flatMap((type) => (isObjectType(type) || isInterfaceType(type) ? Object.keys(type.getFields()) : [])))];
}

function findPlaces(document: DocumentNode, schema: GraphQLSchema): Place[] {
  const types = new TypeInfo(schema);
  const places: Place[] = [];
  visit(
    document,
    visitWithTypeInfo(types, {
      Field(field) {
        const parent = types.getParentType();
        const names = parent && (isObjectType(parent) || isInterfaceType(parent)) ? Object.keys(parent.getFields()) : [];
        places.push({ field, names });
      },
    }),
  );
  return places;
}

function withAlias(document: DocumentNode, field: FieldNode, alias: string): DocumentNode {
  return visit(document, {
    Field: (each) => (each === field ? { ...each, alias: { kind: Kind.NAME, value: alias } } : undefined),
  });
}

/** An operation with other response keys, and what returns those of the operation that it was made from. */
interface Renamed {
  readonly operation: FuzzOperation;
  /** Returns data with the keys of the first operation. */
  readonly restore: (data: unknown) => unknown;
  readonly restoreKey: (key: string) => string;
}

/** Exchanges up to four response keys of an operation everywhere with names that the gateway could take for other fields; it stays valid. */
export function exchangeKeys({ query, variables }: FuzzOperation, schema: GraphQLSchema, random: Random): Renamed {
  const document = parse(query, { noLocation: true });
  const keys = [...new Set(findPlaces(document, schema).map(({ field }) => (field.alias ?? field.name).value))];
  const all = namesIn(schema);
  const renamed = new Map<string, string>();
  for (let left = 1 + random.upTo(3); left > 0; left--) {
    const from = random.pick(keys);
    const to = random.chance(0.3) ? random.pick(INTERNAL)(random.pick(all)) : random.pick(random.chance(0.5) ? all : keys);
    if (renamed.has(from) || renamed.has(to)) continue;
    renamed.set(from, to);
    renamed.set(to, from);
  }
  const restoreKey = (key: string) => renamed.get(key) ?? key;
  const restore = (data: unknown): unknown => {
    if (Array.isArray(data)) return data.map(restore);
    if (typeof data !== 'object' || data === null) return data;
    return Object.fromEntries(Object.entries(data).map(([key, value]) => [restoreKey(key), restore(value)]));
  };
  const changed = visit(document, {
    Field: (field) => {
      const key = (field.alias ?? field.name).value;
      return { ...field, alias: { kind: Kind.NAME, value: restoreKey(key) } };
    },
  });
  return { operation: { query: print(changed), variables }, restore, restoreKey };
}
