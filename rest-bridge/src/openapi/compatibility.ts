/** Finds the changes of an OpenAPI document that break clients (spec §9.4). Within a version only additions are allowed. No I/O. */
import type { JsonSchema } from './schemas.ts';

type Json = Readonly<Record<string, unknown>>;

/** The released document and the new one. */
interface Documents {
  readonly old: Json;
  readonly next: Json;
  /** Pairs of references, each with a sender, below which nothing breaks. Without them, equal schemas are compared once for each path to them. */
  readonly unchanged: Set<string>;
}

/** A part of both documents, and its place for messages. */
interface Change {
  readonly old: Json;
  readonly next: Json;
  readonly place: string;
}

/** The context of a comparison of schemas. */
interface Side {
  readonly documents: Documents;
  /** The sender of the value: values from clients may be restricted less, values from the server may contain more. */
  readonly sender: 'client' | 'server';
  /** Pairs of references that are already being compared, because schemas may refer to each other. */
  readonly above: Set<string>;
  /** Whether only the existence of a change matters: then `above` gets every pair, and each is compared once. */
  readonly isSearch?: boolean;
}

/** Returns each breaking change with its place, e.g. `GET /users: parameter limit was removed`; an empty list for additions only. */
export function findBreakingChanges(old: Json, next: Json): string[] {
  const documents: Documents = { old, next, unchanged: new Set() };
  const [oldPaths, nextPaths] = [toObject(old['paths']), toObject(next['paths'])];
  return Object.entries(oldPaths).flatMap(([path, methods]) =>
    Object.entries(toObject(methods)).flatMap(([method, operation]) => {
      const place = `${method.toUpperCase()} ${path}`;
      // Clients cannot rely on an operation that was never implemented.
      if (!Object.keys(toObject(toObject(operation)['responses'])).some((status) => /^[23]/.test(status))) return [];
      const now = toObject(nextPaths[path])[method];
      if (now === undefined) return [`${place} was removed`];
      return compareOperation(documents, toObject(operation), toObject(now)).map((change) => `${place}: ${change}`);
    }),
  );
}

function compareOperation(documents: Documents, old: Json, next: Json): string[] {
  const isAnonymous = ({ security }: Json) => JSON.stringify(security).includes('{}');
  const sent: Side = { documents, sender: 'client', above: new Set() };
  const [oldBody, nextBody] = [toObject(old['requestBody']), toObject(next['requestBody'])];
  return [
    ...(isAnonymous(old) && !isAnonymous(next) ? ['now requires a token'] : []),
    ...(old['requestBody'] === undefined && nextBody['required'] === true ? ['a body became required'] : []),
    ...compareParameters(sent, toParameters(documents.old, old), toParameters(documents.next, next)),
    ...compareContent(sent, { old: oldBody, next: nextBody, place: 'body' }),
    ...compareResponses({ ...sent, sender: 'server' }, toObject(old['responses']), toObject(next['responses'])),
  ];
}

function compareParameters(side: Side, old: Map<string, Json>, next: Map<string, Json>): string[] {
  const changed = [...old].flatMap(([name, parameter]) => {
    const now = next.get(name);
    const place = `parameter ${name}`;
    if (!now) return [`${place} was removed`];
    return compareSchemas(side, { old: toObject(parameter['schema']), next: toObject(now['schema']), place });
  });
  const required = [...next].filter(([name, parameter]) => parameter['required'] === true && old.get(name)?.['required'] !== true);
  return [...changed, ...required.map(([name]) => `parameter ${name} became required`)];
}

function compareResponses(side: Side, old: Json, next: Json): string[] {
  return Object.entries(old).flatMap(([status, response]) => {
    const now = next[status];
    const place = `response ${status}`;
    if (now === undefined) return status.startsWith('2') ? [`${place} was removed`] : [];
    return compareContent(side, { old: toObject(response), next: toObject(now), place });
  });
}

function compareContent(side: Side, { old, next, place }: Change): string[] {
  const [before, after] = [toContent(side.documents.old, old), toContent(side.documents.next, next)];
  return Object.entries(before).flatMap(([type, media]) => {
    const now = after[type];
    if (now === undefined) return [`${place} as ${type} was removed`];
    return compareSchemas(side, { old: toObject(toObject(media)['schema']), next: toObject(toObject(now)['schema']), place });
  });
}

function compareSchemas(outer: Side, references: Change): string[] {
  const { place } = references;
  const side = enter(outer, references);
  if (!side) return [];
  const [old, next] = [resolve(side.documents.old, references.old), resolve(side.documents.next, references.next)];
  const change = { old, next, place };
  if (hasOtherType(side, change)) return [`${place} changed its type`];
  const items = { old: toObject(old['items']), next: toObject(next['items']), place: `${place}[]` };
  return [
    ...(side.sender === 'client' ? [...compareValues(change), ...compareBounds(change)] : []),
    ...compareProperties(side, change),
    ...compareVariants(side, change),
    ...(old['items'] === undefined ? [] : compareSchemas(side, items)),
  ];
}

/** Returns the context inside a reference; undefined when its pair needs no comparison, or is being compared already. */
function enter(side: Side, references: Change): Side | undefined {
  const { documents, sender, above, isSearch = false } = side;
  if (references.old['$ref'] === undefined || references.next['$ref'] === undefined) return side;
  const pair = JSON.stringify([sender, references.old['$ref'], references.next['$ref']]);
  if (documents.unchanged.has(pair) || above.has(pair)) return undefined;
  if (isSearch) {
    above.add(pair);
    return side;
  }
  const reached = new Set<string>();
  if (compareSchemas({ ...side, above: reached, isSearch: true }, references).length > 0)
    return { ...side, above: new Set([...above, pair]) };
  for (const each of reached) documents.unchanged.add(each);
  return undefined;
}

/** Returns whether a client's value could be refused, or a server's value could have a type that the client does not expect. */
function hasOtherType({ sender }: Side, { old, next }: Change): boolean {
  const [oldTypes, nextTypes] = [toList(old['type']), toList(next['type'])];
  if (oldTypes.length === 0) return false;
  if (nextTypes.length === 0) return true;
  const [expected, allowed] = sender === 'client' ? [oldTypes, nextTypes] : [nextTypes, oldTypes];
  return expected.some((type) => !allowed.includes(type));
}

function compareValues({ old, next, place }: Change): string[] {
  const [oldValues, nextValues] = [toList(old['enum']), toList(next['enum'])];
  if (nextValues.length === 0) return [];
  const isNarrower = oldValues.length === 0 || oldValues.some((value) => !nextValues.includes(value));
  return isNarrower ? [`${place} accepts fewer values`] : [];
}

/** Compares each old variant with the new one of the same name or, for inline schemas, at the same index. */
function compareVariants(side: Side, { old, next, place }: Change): string[] {
  const after = toList(next['anyOf']).map(toObject);
  return toList(old['anyOf']).flatMap((variant, i) => {
    const before = toObject(variant);
    const now =
      after.find((one) => one['$ref'] !== undefined && one['$ref'] === before['$ref']) ??
      (before['$ref'] === undefined ? after[i] : undefined);
    return now ? compareSchemas(side, { old: before, next: now, place }) : [`${place} has one variant less`];
  });
}

function compareBounds({ old, next, place }: Change): string[] {
  const tighter = (name: string, isTighter: (before: number, after: number) => boolean) =>
    typeof next[name] === 'number' && (typeof old[name] !== 'number' || isTighter(old[name], next[name]))
      ? [`${place} changed its ${name}`]
      : [];
  const hasOtherDefault = old['default'] !== undefined && JSON.stringify(old['default']) !== JSON.stringify(next['default']);
  return [
    ...['maximum', 'maxLength'].flatMap((name) => tighter(name, (before, after) => after < before)),
    ...['minimum', 'minLength'].flatMap((name) => tighter(name, (before, after) => after > before)),
    ...(hasOtherDefault ? [`${place} changed its default`] : []),
  ];
}

function compareProperties(side: Side, { old, next, place }: Change): string[] {
  const [before, after] = [toObject(old['properties']), toObject(next['properties'])];
  const changed = Object.entries(before).flatMap(([name, schema]) => {
    const now = after[name];
    const inner = `${place} ${name}`;
    return now === undefined
      ? [`${inner} was removed`]
      : compareSchemas(side, { old: toObject(schema), next: toObject(now), place: inner });
  });
  const [oldRequired, nextRequired] = [toList(old['required']), toList(next['required'])];
  if (side.sender === 'client') {
    const added = nextRequired.filter((name) => !oldRequired.includes(name));
    return [...changed, ...added.map((name) => `${place} ${String(name)} became required`)];
  }
  const optional = oldRequired.filter((name) => !nextRequired.includes(name) && Object.hasOwn(after, String(name)));
  return [...changed, ...optional.map((name) => `${place} ${String(name)} may now be absent`)];
}

function toParameters(document: Json, operation: Json): Map<string, Json> {
  const parameters = toList(operation['parameters']).map((parameter) => resolve(document, toObject(parameter)));
  return new Map(parameters.map((parameter) => [`${String(parameter['in'])} ${String(parameter['name'])}`, parameter]));
}

function toContent(document: Json, holder: Json): Json {
  return toObject(resolve(document, holder)['content']);
}

function resolve(document: Json, value: Json): Json {
  const reference = value['$ref'];
  if (typeof reference !== 'string') return value;
  return reference
    .split('/')
    .slice(1)
    .reduce<Json>((inner, name) => toObject(inner[name]), document);
}

function toObject(value: unknown): JsonSchema {
  return typeof value === 'object' && value !== null ? (value as JsonSchema) : {};
}

function toList(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : value === undefined ? [] : [value];
}
