/** What of a change to an OpenAPI document would break clients (spec §9.4): additions may pass within a version, nothing else. No I/O. */
import type { JsonSchema } from './schemas.ts';

type Json = Readonly<Record<string, unknown>>;

interface Side {
  /** Pairs that are being compared further up: accounts have posts, and posts have authors. */
  readonly above: ReadonlySet<string>;
  /** Who sends it: what the client sends may become laxer, what it gets may become fuller. */
  readonly sender: 'client' | 'server';
  readonly old: Json;
  readonly next: Json;
}

/** Each breaking change by its place, e.g. `GET /users: parameter limit is gone`. Empty when only additions were made. */
export function findBreakingChanges(old: Json, next: Json): string[] {
  const [oldPaths, nextPaths] = [objectOf(old['paths']), objectOf(next['paths'])];
  return Object.entries(oldPaths).flatMap(([path, methods]) =>
    Object.entries(objectOf(methods)).flatMap(([method, operation]) => {
      const place = `${method.toUpperCase()} ${path}`;
      // What was never implemented has no success that a client could rely on.
      if (!Object.keys(objectOf(objectOf(operation)['responses'])).some((status) => /^[23]/.test(status))) return [];
      const now = objectOf(nextPaths[path])[method];
      if (now === undefined) return [`${place} is gone`];
      return compareOperation({ old, next }, objectOf(operation), objectOf(now)).map((change) => `${place}: ${change}`);
    }),
  );
}

type Documents = Pick<Side, 'old' | 'next'>;

function compareOperation(documents: Documents, old: Json, next: Json): string[] {
  const isOpen = ({ security }: Json) => JSON.stringify(security).includes('{}');
  return [
    ...(isOpen(old) && !isOpen(next) ? ['needs a token now'] : []),
    ...(old['requestBody'] === undefined && objectOf(next['requestBody'])['required'] === true ? ['a body is required now'] : []),
    ...compareParameters(documents, parametersOf(documents.old, old), parametersOf(documents.next, next)),
    ...compareContent({ ...documents, above: new Set(), sender: 'client' }, old['requestBody'], next['requestBody'], 'body'),
    ...compareResponses(documents, objectOf(old['responses']), objectOf(next['responses'])),
  ];
}

function compareParameters(documents: Documents, old: Map<string, Json>, next: Map<string, Json>): string[] {
  const gone = [...old].flatMap(([name, parameter]) => {
    const now = next.get(name);
    if (!now) return [`parameter ${name} is gone`];
    return compareSchemas(
      { ...documents, above: new Set(), sender: 'client' },
      objectOf(parameter['schema']),
      objectOf(now['schema']),
      `parameter ${name}`,
    );
  });
  const needed = [...next].filter(([name, { required }]) => required === true && old.get(name)?.['required'] !== true);
  return [...gone, ...needed.map(([name]) => `parameter ${name} is required now`)];
}

function compareResponses(documents: Documents, old: Json, next: Json): string[] {
  return Object.entries(old).flatMap(([status, response]) => {
    const now = next[status];
    if (now === undefined) return status.startsWith('2') ? [`response ${status} is gone`] : [];
    return compareContent({ ...documents, above: new Set(), sender: 'server' }, response, now, `response ${status}`);
  });
}

function compareContent(side: Side, old: unknown, next: unknown, place: string): string[] {
  const [before, after] = [contentOf(side.old, old), contentOf(side.next, next)];
  return Object.entries(before).flatMap(([type, media]) => {
    const now = after[type];
    if (now === undefined) return [`${place} as ${type} is gone`];
    return compareSchemas(side, objectOf(objectOf(media)['schema']), objectOf(objectOf(now)['schema']), place);
  });
}

function compareSchemas(outer: Side, oldReference: Json, nextReference: Json, place: string): string[] {
  const pair = JSON.stringify([oldReference['$ref'], nextReference['$ref']]);
  if (oldReference['$ref'] !== undefined && outer.above.has(pair)) return [];
  const side = { ...outer, above: new Set([...outer.above, pair]) };
  const [old, next] = [resolve(side.old, oldReference), resolve(side.next, nextReference)];
  const { sender } = side;
  const [oldTypes, nextTypes] = [listOf(old['type']), listOf(next['type'])];
  const lostTypes =
    sender === 'client' ? oldTypes.filter((type) => !nextTypes.includes(type)) : nextTypes.filter((type) => !oldTypes.includes(type));
  if (oldTypes.length > 0 && (lostTypes.length > 0 || nextTypes.length === 0)) return [`${place} has another type`];
  const [oldValues, nextValues] = [listOf(old['enum']), listOf(next['enum'])];
  const narrowed =
    sender === 'client' && nextValues.length > 0 && (oldValues.length === 0 || oldValues.some((value) => !nextValues.includes(value)));
  return [
    ...(narrowed ? [`${place} takes fewer values`] : []),
    ...compareProperties(side, old, next, place),
    ...compareVariants(side, old, next, place),
    ...(sender === 'client' ? compareBounds(old, next, place) : []),
    ...(old['items'] === undefined ? [] : compareSchemas(side, objectOf(old['items']), objectOf(next['items']), `${place}[]`)),
  ];
}

/** Each shape that there was must still be there: the one of the same name, or in the same place. */
function compareVariants(side: Side, old: Json, next: Json, place: string): string[] {
  const after = listOf(next['anyOf']).map(objectOf);
  return listOf(old['anyOf']).flatMap((variant, i) => {
    const before = objectOf(variant);
    const now =
      after.find((one) => one['$ref'] !== undefined && one['$ref'] === before['$ref']) ??
      (before['$ref'] === undefined ? after[i] : undefined);
    return now ? compareSchemas(side, before, now, place) : [`${place} has a shape less`];
  });
}

function compareBounds(old: Json, next: Json, place: string): string[] {
  const tighter = (name: string, isTighter: (before: number, after: number) => boolean) =>
    typeof next[name] === 'number' && (typeof old[name] !== 'number' || isTighter(old[name], next[name]))
      ? [`${place} has another ${name}`]
      : [];
  return [
    ...['maximum', 'maxLength'].flatMap((name) => tighter(name, (before, after) => after < before)),
    ...['minimum', 'minLength'].flatMap((name) => tighter(name, (before, after) => after > before)),
    ...(old['default'] !== undefined && JSON.stringify(old['default']) !== JSON.stringify(next['default'])
      ? [`${place} has another default`]
      : []),
  ];
}

function compareProperties(side: Side, old: Json, next: Json, place: string): string[] {
  const [before, after] = [objectOf(old['properties']), objectOf(next['properties'])];
  const changed = Object.entries(before).flatMap(([name, schema]) => {
    const now = after[name];
    const inner = `${place} ${name}`;
    return now === undefined ? [`${inner} is gone`] : compareSchemas(side, objectOf(schema), objectOf(now), inner);
  });
  const [oldRequired, nextRequired] = [listOf(old['required']), listOf(next['required'])];
  const newlyNeeded = nextRequired.filter((name) => !oldRequired.includes(name));
  const noLongerSure = oldRequired.filter((name) => !nextRequired.includes(name) && Object.hasOwn(after, String(name)));
  return [
    ...changed,
    ...(side.sender === 'client'
      ? newlyNeeded.map((name) => `${place} ${String(name)} is required now`)
      : noLongerSure.map((name) => `${place} ${String(name)} may be missing now`)),
  ];
}

function parametersOf(document: Json, operation: Json): Map<string, Json> {
  const parameters = listOf(operation['parameters']).map((parameter) => resolve(document, objectOf(parameter)));
  return new Map(parameters.map((parameter) => [`${String(parameter['in'])} ${String(parameter['name'])}`, parameter]));
}

function contentOf(document: Json, holder: unknown): Json {
  return objectOf(resolve(document, objectOf(holder))['content']);
}

function resolve(document: Json, value: Json): Json {
  const reference = value['$ref'];
  if (typeof reference !== 'string') return value;
  return reference
    .split('/')
    .slice(1)
    .reduce<Json>((inner, name) => objectOf(inner[name]), document);
}

function objectOf(value: unknown): JsonSchema {
  return typeof value === 'object' && value !== null ? (value as JsonSchema) : {};
}

function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : value === undefined ? [] : [value];
}
