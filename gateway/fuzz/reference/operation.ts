/** Generates random valid operations with many conditions: fields that are selected several times, fragments on every type that may overlap. */
import {
  type GraphQLArgument,
  type GraphQLCompositeType,
  type GraphQLSchema,
  doTypesOverlap,
  getNamedType,
  isCompositeType,
  isUnionType,
  parse,
  validate,
} from 'graphql';
import type { FuzzOperation } from '../operations.ts';
import type { Random } from '../random.ts';

interface Drawing {
  readonly schema: GraphQLSchema;
  readonly random: Random;
  readonly fragments: Fragment[];
  /** The probability that a selection has conditions. */
  readonly conditional: number;
}

interface Fragment {
  readonly name: string;
  readonly on: GraphQLCompositeType;
  readonly text: string;
}

/** Variables by name: the declaration, and values to send (undefined to send none). */
const VARIABLES: Readonly<Record<string, { declared: string; values: readonly unknown[] }>> = {
  a: { declared: 'Boolean!', values: [true, false] },
  b: { declared: 'Boolean = false', values: [undefined, true, false] },
  c: { declared: 'Boolean! = true', values: [undefined, true, false] },
  n: { declared: 'Int', values: [undefined, null, 1, 2] },
  f: { declared: 'Filter', values: [undefined, { a: 1 }, { b: ['x'] }, { a: null, c: 'RED' }, {}] },
  e: { declared: 'Color = GREEN', values: [undefined, 'BLUE'] },
  p: { declared: 'Pick', values: [undefined, { a: 1 }, { b: 'x' }, { d: { b: ['y'] } }] },
  q: { declared: 'Pick! = { c: RED }', values: [undefined, { a: 1 }, { d: {} }] },
  s: { declared: 'String!', values: ['one of', ''] },
};

/** Returns undefined when the generated operation is not valid. */
export function generateConditionalOperation(schema: GraphQLSchema, random: Random): FuzzOperation | undefined {
  const mutation = schema.getMutationType();
  const isMutation = mutation && random.chance(0.15);
  const root = (isMutation ? mutation : schema.getQueryType()) as GraphQLCompositeType;
  const drawing: Drawing = { schema, random, fragments: [], conditional: random.pick([0.05, 0.2, 0.4]) };
  // The order of the fields of a mutation matters: more of them.
  const body = Array.from({ length: isMutation ? 2 : 1 }, () => select(root, isMutation ? 3 : 4, drawing))
    .join(' ')
    .trim();
  if (body === '') return undefined;
  const used = `{ ${body} }\n${usedFragments(body, drawing.fragments).join('\n')}`;
  const names = Object.keys(VARIABLES).filter((name) => new RegExp(`\\$${name}\\b`).test(used));
  const declared = names.map((name) => `$${name}: ${VARIABLES[name]?.declared ?? ''}`).join(', ');
  const query = `${isMutation ? 'mutation' : 'query'} Op${declared === '' ? '' : `(${declared})`} ${used}`;
  if (validate(schema, parse(query)).length > 0) return undefined;
  const variables: Record<string, unknown> = {};
  for (const name of names) {
    const value = random.pick(VARIABLES[name]?.values ?? []);
    if (value !== undefined) variables[name] = value;
  }
  return { query, variables };
}

function usedFragments(body: string, fragments: readonly Fragment[]): string[] {
  const used = new Set<Fragment>();
  const look = (text: string) => {
    for (const fragment of fragments)
      if (!used.has(fragment) && new RegExp(`\\.\\.\\.${fragment.name}\\b`).test(text)) {
        used.add(fragment);
        look(fragment.text);
      }
  };
  look(body);
  return [...used].map(({ name, on, text }) => `fragment ${name} on ${on.name} { ${text} }`);
}

function select(type: GraphQLCompositeType, depth: number, drawing: Drawing): string {
  const { random } = drawing;
  const parts: string[] = [];
  for (let i = random.upTo(3); i >= 0; i--) {
    const drawn = random.next();
    if (drawn < 0.1) parts.push(`${random.chance(0.3) ? 't: ' : ''}__typename${condition(drawing)}`);
    else if (drawn < (isUnionType(type) ? 0.95 : 0.35)) parts.push(selectFragment(type, depth, drawing));
    else parts.push(selectField(type, depth, drawing));
    // The same field again, with other conditions or another selection set.
    const last = parts.at(-1) ?? '';
    if (last !== '' && random.chance(0.12))
      parts.push(
        random.chance(0.5)
          ? last
          : last.replace(
              /^(\w+(?:: \w+)?(?:\([^)]*\))?)(?: @[^{]*)?/,
              (head) => `${head.split(' @')[0]?.trimEnd() ?? ''}${condition(drawing)} `,
            ),
      );
  }
  return parts.filter((part) => part !== '').join(' ');
}

function selectFragment(type: GraphQLCompositeType, depth: number, drawing: Drawing): string {
  const { random, schema, fragments } = drawing;
  const known = fragments.filter(({ on }) => doTypesOverlap(schema, type, on));
  if (known.length > 0 && random.chance(0.25)) return `...${random.pick(known).name}${condition(drawing)}`;
  const types = Object.values(schema.getTypeMap()).filter(isCompositeType);
  const on = random.pick(types.filter((each) => !each.name.startsWith('__') && doTypesOverlap(schema, type, each)));
  const text = depth > 0 ? select(on, depth - 1, drawing) : '';
  if (text === '') return '';
  if (random.chance(0.3)) {
    const name = `F${fragments.length}`;
    fragments.push({ name, on, text });
    return `...${name}${condition(drawing)}`;
  }
  return `... ${on === type && random.chance(0.5) ? '' : `on ${on.name}`}${condition(drawing)} { ${text} }`;
}

function selectField(type: GraphQLCompositeType, depth: number, drawing: Drawing): string {
  const { random } = drawing;
  if (isUnionType(type)) return '';
  const field = random.pick(Object.values(type.getFields()));
  const named = getNamedType(field.type);
  const alias = random.chance(0.15) ? `al${random.upTo(2)}: ` : '';
  const head = `${alias}${field.name}${writeArguments(field.args, random)}${condition(drawing)}`;
  if (!isCompositeType(named)) return head;
  const inner = depth > 0 ? select(named, depth - 1, drawing) : '';
  return inner === '' ? '' : `${head} { ${inner} }`;
}

const CONDITIONS = [
  '@include(if: $a)',
  '@skip(if: $a)',
  '@include(if: $b)',
  '@skip(if: $b)',
  '@include(if: $c)',
  '@skip(if: $c)',
  '@skip(if: false)',
  '@skip(if: true)',
  '@include(if: false)',
  '@include(if: $a) @skip(if: $b)',
  '@skip(if: $a) @include(if: true)',
  '@include(if: $a) @skip(if: $a)',
];

function condition({ random, conditional }: Drawing): string {
  return random.chance(conditional) ? ` ${random.pick(CONDITIONS)}` : '';
}

function writeArguments(args: readonly GraphQLArgument[], random: Random): string {
  const written = args.flatMap(({ name, defaultValue }) => {
    if (random.chance(0.5)) return [];
    if (name === 'n') return [`n: ${random.pick(['$n', '1', '2'])}`];
    if (name === 'c') return [`c: ${random.pick(['$e', 'RED'])}`];
    if (name === 'f') return [`f: ${random.pick(['$f', '{ a: 3 }', '{ b: ["y"], a: $n }'])}`];
    return [
      `p: ${random.pick(['$q', ...(defaultValue === undefined ? ['$p'] : []), '{ a: 1 }', '{ b: $s }', '{ d: { a: $n } }', '{ c: BLUE }'])}`,
    ];
  });
  return written.length > 0 ? `(${written.join(', ')})` : '';
}
