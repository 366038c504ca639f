/** Generates random supergraphs: 2 to 5 subgraphs with several keys, interfaces, unions, interface objects, `@requires` with arguments, `@override`. */
import { composeServices } from '@apollo/composition';
import { type DocumentNode, parse } from 'graphql';
import { type Random, hash } from './random.ts';

export interface FuzzSubgraph {
  readonly name: string;
  readonly typeDefs: DocumentNode;
  readonly sdl: string;
}

export interface FuzzSupergraph {
  readonly sdl: string;
  readonly subgraphs: readonly FuzzSubgraph[];
  /** Fields with the arguments with which computed fields require them. */
  readonly requirements: readonly Requirement[];
}

export interface Requirement {
  readonly computed: string;
  readonly field: string;
  /** In braces; empty for none. */
  readonly args: string;
}

const LINK =
  'extend schema @link(url: "https://specs.apollo.dev/federation/v2.9", import: ["@key","@shareable","@external","@requires","@provides","@interfaceObject","@inaccessible","@override","@cost"])';
const LEAVES = ['Int', 'Float', 'String', 'Boolean', 'ID', 'Color', 'Any'];
const WRAPS = [
  (type: string) => type,
  (type: string) => `${type}!`,
  (type: string) => `[${type}!]`,
  (type: string) => `[${type}]!`,
  (type: string) => `[[${type}]!]`,
];

interface Field {
  readonly name: string;
  readonly type: string;
  readonly args: string;
  readonly owners: readonly string[];
  /** A subgraph whose definition of the field is overridden. */
  readonly movedFrom: string | undefined;
}

interface Entity {
  readonly name: string;
  readonly fields: Field[];
  /** The keys in each subgraph. */
  readonly keys: Map<string, readonly string[]>;
}

/** Returns undefined when the generated subgraphs do not compose. */
export function generateSupergraph(random: Random): FuzzSupergraph | undefined {
  const names = Array.from({ length: 2 + random.upTo(3) }, (_, i) => `s${i}`);
  const entities = Array.from({ length: 2 + random.upTo(2) }, (_, i) => generateEntity(`E${i}`, names, random));
  const references = entities.map(({ name }) => name);
  for (const entity of entities) addReferences(entity, { references, names, random });
  // An interface is defined by one subgraph; another may define it as an interface object.
  const home = random.pick(names);
  const implementers = entities.filter(({ keys }) => keys.get(home)?.includes('id')).slice(0, 2 + random.upTo(1));
  const away = random.chance(0.5) ? names.find((name) => name !== home && !implementers.some(({ keys }) => keys.has(name))) : undefined;
  const requirements: Requirement[] = [];
  const world: World = { names, entities, home, implementers, away, requirements, random };
  const subgraphs = names.map((name): FuzzSubgraph => {
    const sdl = writeSubgraph(name, world);
    return { name, sdl, typeDefs: parse(sdl) };
  });
  const { supergraphSdl, errors } = composeServices(
    subgraphs.map(({ name, typeDefs }) => ({ name, typeDefs, url: `http://${name}.invalid/` })),
  );
  return errors ? undefined : { sdl: supergraphSdl, subgraphs, requirements };
}

function generateEntity(name: string, names: readonly string[], random: Random): Entity {
  const keys = new Map<string, readonly string[]>();
  for (const subgraph of random.some(names, 0.75))
    keys.set(subgraph, random.pick([['id'], ['id'], ['id', 'code'], ['id', 'code'], ['code'], ['id code']]));
  if (keys.size === 0) keys.set(random.pick(names), ['id']);
  // A subgraph with all keys can resolve each key by any other one.
  keys.set(random.pick([...keys.keys()]), ['id', 'code']);
  const fields = Array.from({ length: 2 + random.upTo(4) }, (_, i): Field => {
    const owners = random.chance(0.2) ? random.some([...keys.keys()], 0.7) : [random.pick([...keys.keys()])];
    const args = random.chance(0.25) ? '(n: Int = 1 @cost(weight: 3), c: Color, f: Filter)' : '';
    const type = random.pick(WRAPS)(random.pick([...LEAVES, 'Value']));
    return { name: `${name.toLowerCase()}f${i}`, type, args, owners, movedFrom: pickMoved(owners, { keys, random }) };
  });
  return { name, fields: fields.filter(({ owners }) => owners.length > 0), keys };
}

/** Returns the subgraph that still defines a field which another one overrides. */
function pickMoved(owners: readonly string[], { keys, random }: { keys: Entity['keys']; random: Random }): string | undefined {
  const others = [...keys.keys()].filter((name) => !owners.includes(name));
  return owners.length === 1 && others.length > 0 && random.chance(0.15) ? random.pick(others) : undefined;
}

function addReferences(
  entity: Entity,
  { references, random }: { references: readonly string[]; names: readonly string[]; random: Random },
): void {
  for (let i = random.upTo(2); i >= 0; i--) {
    const type = random.pick([...WRAPS].slice(0, 4))(random.pick(references));
    const owners = [random.pick([...entity.keys.keys()])];
    const movedFrom = pickMoved(owners, { keys: entity.keys, random });
    entity.fields.push({ name: `${entity.name.toLowerCase()}r${i}`, type, args: '', owners, movedFrom });
  }
}

interface World {
  readonly names: readonly string[];
  readonly entities: readonly Entity[];
  readonly home: string;
  readonly implementers: readonly Entity[];
  readonly away: string | undefined;
  readonly requirements: Requirement[];
  readonly random: Random;
}

function writeSubgraph(name: string, world: World): string {
  const { entities, home, implementers, away, random } = world;
  const parts = [LINK, 'enum Color { RED GREEN BLUE }', 'scalar Any', 'input Filter { a: Int = 2, b: [String!], c: Color }'];
  parts.push('type Value @shareable { x: Int y: String! z: [Int!] }');
  const known = new Set<string>();
  for (const entity of entities) {
    if (entity.keys.has(name) || referencesOf(name, entities).has(entity.name)) known.add(entity.name);
  }
  const hasInterface = name === home && implementers.length > 0;
  for (const entity of entities)
    if (known.has(entity.name)) parts.push(writeEntity(name, entity, { isMember: hasInterface && implementers.includes(entity), world }));
  if (hasInterface) parts.push(`interface Node ${away ? '@key(fields: "id")' : ''} { id: ID! }`);
  if (name === away && implementers.length > 0)
    parts.push('type Node @key(fields: "id") @interfaceObject { id: ID! extra: Int more: [String!] }');
  const members = [...known].filter((each) => entities.find((entity) => entity.name === each)?.keys.has(name));
  const hasUnion = members.length > 1;
  if (hasUnion) parts.push(`union Any${name} = ${members.join(' | ')} | Value`);
  const roots = Array.from({ length: 1 + random.upTo(2) }, (_, i) => {
    const targets = [
      ...members,
      ...members,
      ...(hasInterface || (name === away && implementers.length > 0) ? ['Node', 'Node'] : []),
      ...(hasUnion ? [`Any${name}`] : []),
      'Value',
      'Int',
    ];
    return `${name}q${i}${random.chance(0.4) ? '(n: Int = 2, f: Filter, c: Color = RED)' : ''}: ${random.pick(WRAPS.slice(0, 4))(random.pick(targets))}`;
  });
  if (random.chance(0.4)) roots.push('common: Value @shareable');
  parts.push(`type Query { ${roots.join(' ')} }`);
  const [first] = members;
  if (first !== undefined) parts.push(`type Mutation { ${name}m0(n: Int): ${first} ${name}m1: Int }`);
  return parts.join('\n');
}

function referencesOf(name: string, entities: readonly Entity[]): Set<string> {
  const found = new Set<string>();
  for (const { fields } of entities)
    for (const { type, owners, movedFrom } of fields)
      for (const { name: other } of entities) if ((owners.includes(name) || movedFrom === name) && type.includes(other)) found.add(other);
  return found;
}

function writeEntity(name: string, entity: Entity, { isMember, world }: { isMember: boolean; world: World }): string {
  const { random } = world;
  const keys = entity.keys.get(name);
  // A subgraph that only refers to an entity defines a key that it does not resolve.
  const directives = keys ? keys.map((key) => `@key(fields: "${key}")`) : ['@key(fields: "id", resolvable: false)'];
  const keyFields = new Set((keys ?? ['id']).join(' ').split(' '));
  const lines = [...keyFields].map((key) => `${key}: ${key === 'id' ? 'ID!' : 'String!'}`);
  if (isMember && !keyFields.has('id')) lines.push('id: ID! @shareable');
  const own = entity.fields.filter(({ owners, movedFrom }) => owners.includes(name) || movedFrom === name);
  for (const { name: field, type, args, owners, movedFrom } of own) {
    const hidden = random.chance(0.05) ? ' @inaccessible' : '';
    const override = movedFrom !== undefined && movedFrom !== name ? ` @override(from: "${movedFrom}")` : '';
    lines.push(`${field}${args}: ${type}${owners.length > 1 ? ' @shareable' : ''}${override}${hidden}${costOf(field)}`);
  }
  // No lists of lists of objects: the stock engine returns null for them.
  const foreign = entity.fields.filter((field) => !own.includes(field) && !/E\d|\[\[Value/.test(field.type));
  if (keys && foreign.length > 0 && random.chance(0.4)) {
    const needed = random.some(foreign, 0.5);
    const computed = `${entity.name.toLowerCase()}c${name}`;
    const requires = (needed.length > 0 ? needed : foreign.slice(0, 1)).map(({ name: field, type, args }) => {
      lines.push(`${field}${args}: ${type} @external`);
      const given = args === '' ? '' : random.pick(['', '(n: 1)', '(n: 2)', '(n: 2, c: RED)', '(f: {a: 3})']);
      if (args !== '') world.requirements.push({ computed, field, args: given });
      return `${field}${given}${type.includes('Value') ? ' { x y }' : ''}`;
    });
    lines.push(`${computed}: String @requires(fields: "${requires.join(' ')}")`);
  }
  return `type ${entity.name} ${isMember ? 'implements Node ' : ''}${directives.join(' ')} { ${lines.join(' ')} }`;
}

/** Some fields have a weight, which follows from the name so that it is the same in all subgraphs. */
function costOf(field: string): string {
  const drawn = hash(`cost ${field}`);
  return drawn < 0.2 ? ` @cost(weight: ${Math.ceil(drawn * 20)})` : '';
}
