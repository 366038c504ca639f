/**
 * Generates a random schema and divides it into subgraphs: entities, two interfaces and a union that overlap, an interface object, `@requires`,
 * `@provides`, `@shareable`, `@oneOf`, lists of lists.
 */
import { composeServices } from '@apollo/composition';
import { type DocumentNode, parse } from 'graphql';
import type { Random } from '../random.ts';

export interface World {
  readonly sdl: string;
  readonly subgraphs: readonly { readonly name: string; readonly sdl: string; readonly typeDefs: DocumentNode }[];
  readonly facts: Facts;
}

/** Facts about the schema that determine the data; fields are named as `Type.field`. */
export interface Facts {
  /** Object types of the interface that some subgraph defines as an interface object: each id belongs to one of them. */
  readonly products: readonly string[];
  /** Object types that a field of an abstract type may return. */
  readonly candidates: ReadonlyMap<string, readonly string[]>;
  /** Fields that never fail: a computed field requires them, or two subgraphs resolve them. */
  readonly steady: ReadonlySet<string>;
  /** The selection sets that computed fields require. */
  readonly computed: ReadonlyMap<string, string>;
  /** Arguments that have values of contexts; default: none. */
  readonly contextual?: ReadonlyMap<string, readonly ContextualArgument[]>;
}

/** An argument that clients do not send. */
export interface ContextualArgument {
  readonly name: string;
  /** The selection set of the value by the type that sets the context; undefined when no type condition names that type. */
  readonly setters: ReadonlyMap<string, string | undefined>;
}

export const LINK =
  'extend schema @link(url: "https://specs.apollo.dev/federation/v2.9", import: ["@key","@shareable","@external","@requires","@provides","@interfaceObject"])';
const LEAVES = ['Int', 'Float', 'String', 'Boolean', 'ID', 'Color', 'Any', 'Int', 'String'];
const WRAPS = ['T', 'T', 'T', 'T!', '[T!]', '[T]!', '[[T]!]', '[[T!]]!'];
const ARGUMENTS = ['(n: Int = 1, c: Color, f: Filter)', '(p: Pick)', '(p: Pick! = { a: 4 })'];
/** Apollo's composition does not know `@oneOf`; it is added to the supergraph afterwards, as other composers write it. */
const ONE_OF = 'directive @oneOf on INPUT_OBJECT';
const SHARED = `${ONE_OF} enum Color { RED GREEN BLUE } scalar Any input Filter { a: Int = 2, b: [String!], c: Color }
input Pick @oneOf { a: Int b: String c: Color d: Filter } type Value @shareable { x: Int y: String! z: [Int!] }`;

interface Field {
  readonly name: string;
  readonly type: string;
  readonly args: string;
  readonly directives: string;
}

interface Entity {
  readonly name: string;
  readonly homes: readonly string[];
  readonly keys: ReadonlyMap<string, readonly string[]>;
  /** Fields by subgraph. */
  readonly fields: Map<string, Field[]>;
}

interface Draft {
  readonly random: Random;
  readonly names: readonly string[];
  readonly entities: readonly Entity[];
  /** The subgraph with the interface `Product`, and the one with the interface object. */
  readonly home: string;
  readonly away: string | undefined;
  readonly products: readonly Entity[];
  /** The subgraphs with the interface `Named`, and the entities that implement it. */
  readonly namedIn: readonly string[];
  readonly named: readonly Entity[];
  readonly candidates: Map<string, readonly string[]>;
  readonly steady: Set<string>;
  readonly computed: Map<string, string>;
}

/** Returns undefined when the generated subgraphs do not compose. */
export function generateWorld(random: Random): World | undefined {
  const draft = createDraft(random);
  for (const entity of draft.entities) addFields(entity, draft);
  for (const entity of draft.entities) addComputed(entity, draft);
  const subgraphs = draft.names.map((name) => ({ name, sdl: writeSubgraph(name, draft) }));
  const { candidates, steady, computed } = draft;
  return composeWorld(
    subgraphs.map((each) => ({ ...each, sdl: `${each.sdl}\n${writeMutations(each.name, draft)}` })),
    { products: draft.products.map(({ name }) => name), candidates, steady, computed },
  );
}

/** Returns undefined when the subgraphs do not compose. Their SDL begins with {@link LINK}. */
export function composeWorld(sources: readonly { readonly name: string; readonly sdl: string }[], facts: Facts): World | undefined {
  const subgraphs = sources.map(({ name, sdl }) => ({ name, sdl, typeDefs: parse(sdl) }));
  const { supergraphSdl, errors } = composeServices(
    subgraphs.map(({ name, typeDefs }) => ({ name, typeDefs, url: `http://${name}.invalid/` })),
  );
  if (errors) return undefined;
  const sdl = `${supergraphSdl.replace(/(input Pick\s[^{]*)\{/, '$1 @oneOf {')}\n${supergraphSdl.includes('input Pick') ? ONE_OF : ''}\n`;
  return { sdl, subgraphs, facts };
}

function createDraft(random: Random): Draft {
  const names = Array.from({ length: 2 + random.upTo(2) }, (_, i) => `s${i}`);
  const entities = Array.from({ length: 2 + random.upTo(2) }, (_, i): Entity => {
    const some = random.some(names, 0.7);
    const homes = some.length > 0 ? some : [random.pick(names)];
    const keys = new Map(homes.map((home) => [home, random.pick([['id'], ['id'], ['id', 'code']])]));
    return { name: `E${i}`, homes, keys, fields: new Map(homes.map((home) => [home, []])) };
  });
  const home = random.pick(names);
  const products = entities.filter(({ homes }) => homes.includes(home)).slice(0, 3);
  const away = names.find((name) => name !== home && !products.some(({ homes }) => homes.includes(name)));
  return {
    random,
    names,
    entities,
    home,
    away: products.length > 0 && random.chance(0.8) ? away : undefined,
    products,
    namedIn: random.some(names, 0.7),
    named: random.some(entities, 0.7),
    candidates: new Map(),
    steady: new Set(),
    computed: new Map(),
  };
}

function addFields(entity: Entity, draft: Draft): void {
  const { random, home, products } = draft;
  const { name, homes, fields } = entity;
  const lower = name.toLowerCase();
  for (let i = 2 + random.upTo(3); i >= 0; i--) {
    const owners = random.chance(0.15) ? homes : [random.pick(homes)];
    const field = `${lower}f${i}`;
    const type = random.pick(WRAPS).replace('T', random.pick([...LEAVES, 'Value']));
    if (owners.length > 1) draft.steady.add(`${name}.${field}`);
    const args = random.chance(0.2) ? random.pick(ARGUMENTS) : '';
    for (const owner of owners) fields.get(owner)?.push({ name: field, type, args, directives: owners.length > 1 ? '@shareable' : '' });
  }
  for (let i = random.upTo(2); i >= 0; i--) {
    const owner = random.pick(homes);
    fields.get(owner)?.push(createReference(`${name}.${lower}r${i}`, { owner, draft }));
  }
  if (products.includes(entity) && homes.includes(home)) fields.get(home)?.push({ name: 'plain', type: 'Int', args: '', directives: '' });
}

/** Creates a field that returns entities, or objects of an abstract type. */
function createReference(coordinate: string, { owner, draft }: { owner: string; draft: Draft }): Field {
  const { random } = draft;
  const [type = '', name = ''] = coordinate.split('.');
  const target = random.pick(targetsOf(owner, draft));
  const candidates = candidatesOf(target, { owner, draft });
  if (candidates) draft.candidates.set(coordinate, candidates);
  const entity = draft.entities.find((each) => each.name === target);
  const foreign = entity?.homes.filter((each) => each !== owner).flatMap((each) => entity.fields.get(each) ?? []) ?? [];
  const provided = foreign.find(
    ({ args, directives, type: of }) => args === '' && directives === '' && !/E\d|Product|Named|Any\b|Value/.test(of),
  );
  let directives = '';
  if (entity && provided && entity.homes.includes(owner) && random.chance(0.3)) {
    const own = entity.fields.get(owner) ?? [];
    if (!own.some((each) => each.name === provided.name)) {
      own.push({ ...provided, directives: '@external' });
      draft.steady.add(`${entity.name}.${provided.name}`);
      directives = `@provides(fields: "${provided.name}")`;
      // A required field is external as well, and one declaration is enough.
    }
  }
  return {
    name,
    type: random.pick(WRAPS).replace('T', target),
    args: type === 'Query' && random.chance(0.3) ? random.pick(ARGUMENTS) : '',
    directives,
  };
}

/** Types of objects that a subgraph can give. */
function targetsOf(owner: string, { entities, home, away, products, namedIn, named }: Draft): string[] {
  const own = entities.filter(({ homes }) => homes.includes(owner)).map(({ name }) => name);
  const hasNamed = namedIn.includes(owner) && named.some(({ homes }) => homes.includes(owner));
  return [
    ...own,
    ...(products.length > 0 && (owner === home || owner === away) ? ['Product', 'Product'] : []),
    ...(hasNamed ? ['Named', 'Named'] : []),
    ...(own.length > 1 ? ['Item', 'Item'] : []),
    'Value',
  ];
}

/** Undefined for what is no abstract type, or one whose objects are known by their id. */
function candidatesOf(target: string, { owner, draft }: { owner: string; draft: Draft }): string[] | undefined {
  const own = (target === 'Named' ? draft.named : target === 'Item' ? draft.entities : undefined)?.filter(({ homes }) =>
    homes.includes(owner),
  );
  return own?.map(({ name }) => name);
}

/** A field that needs what other subgraphs have. */
function addComputed(entity: Entity, { random, steady, computed }: Draft): void {
  const { name, homes, fields } = entity;
  for (const home of homes) {
    const own = fields.get(home) ?? [];
    const isOwn = (field: Field) => own.some((each) => each.name === field.name);
    const foreign = homes
      .filter((each) => each !== home)
      .flatMap((each) => fields.get(each) ?? [])
      .filter((field) => field.args === '' && field.directives === '' && !isOwn(field) && !/E\d|Product|Named|Item|\[\[/.test(field.type));
    for (let i = random.upTo(2); i > 0 && foreign.length > 0; i--) {
      const needed = [...new Set([random.pick(foreign), random.pick(foreign)])];
      const requires = needed.map((field) => {
        steady.add(`${name}.${field.name}`);
        if (!isOwn(field)) own.push({ ...field, directives: '@external' });
        return `${field.name}${field.type.includes('Value') ? random.pick([' { x y }', ' { y }', ' { z }']) : ''}`;
      });
      const own_ = `${name.toLowerCase()}c${home}${i}`;
      own.push({ name: own_, type: 'String', args: '', directives: `@requires(fields: "${requires.join(' ')}")` });
      computed.set(`${name}.${own_}`, `{ ${requires.join(' ')} }`);
    }
  }
}

function writeSubgraph(name: string, draft: Draft): string {
  const { entities, home, away, products, namedIn, named, random } = draft;
  const parts = [LINK, SHARED];
  const own = entities.filter(({ homes }) => homes.includes(name));
  const isNamed = (entity: Entity) => namedIn.includes(name) && named.includes(entity);
  for (const entity of own) {
    const isProduct = name === home && products.includes(entity);
    const interfaces = [...(isProduct ? ['Product'] : []), ...(isNamed(entity) ? ['Named'] : [])];
    const keys = (entity.keys.get(name) ?? ['id']).map((key) => `@key(fields: "${key}")`).join(' ');
    const fields = [...(entity.fields.get(name) ?? [])];
    parts.push(
      `type ${entity.name}${interfaces.length > 0 ? ` implements ${interfaces.join(' & ')}` : ''} ${keys} { id: ID! ${keys.includes('code') ? 'code: String!' : ''} ${
        isNamed(entity) ? 'label: String @shareable' : ''
      } ${fields.map(writeField).join(' ')} }`,
    );
    if (isNamed(entity)) draft.steady.add(`${entity.name}.label`);
  }
  if (own.some(isNamed)) parts.push('interface Named { id: ID! label: String }');
  if (name === home && products.length > 0) parts.push(`interface Product${away ? ' @key(fields: "id")' : ''} { id: ID! plain: Int }`);
  if (name === away) {
    const extra = [createReference('Product.extraRef', { owner: name, draft }), { name: 'extra', type: 'Int', args: '', directives: '' }];
    if (random.chance(0.4)) {
      extra.push({ name: 'plain', type: 'Int', args: '', directives: '@external' });
      extra.push({ name: 'extraComputed', type: 'String', args: '', directives: '@requires(fields: "plain")' });
      for (const product of products) draft.steady.add(`${product.name}.plain`);
      draft.computed.set('Product.extraComputed', '{ plain }');
    }
    parts.push(`type Product @key(fields: "id") @interfaceObject { id: ID! ${extra.map(writeField).join(' ')} }`);
  }
  if (own.length > 1) parts.push(`union Item = ${own.map((each) => each.name).join(' | ')}`);
  const roots = Array.from({ length: 1 + random.upTo(2) }, (_, i) => createReference(`Query.${name}q${i}`, { owner: name, draft }));
  parts.push(`type Query { ${roots.map(writeField).join(' ')} ${name}n(p: Pick, n: Int): Int }`);
  return parts.join('\n');
}

/** Fields of mutations are nullable: what is executed after a null that may not be is not specified. */
function writeMutations(name: string, draft: Draft): string {
  const fields = Array.from({ length: 1 + draft.random.upTo(2) }, (_, i): Field => {
    const field = createReference(`Mutation.${name}m${i}`, { owner: name, draft });
    return { ...field, type: field.type.replace(/!$/, ''), args: draft.random.pick(['', '(n: Int = 1)']), directives: '' };
  });
  return `type Mutation { ${fields.map(writeField).join(' ')} ${name}do(n: Int): Int }`;
}

function writeField({ name, type, args, directives }: Field): string {
  return `${name}${args}: ${type} ${directives}`;
}
