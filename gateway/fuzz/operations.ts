/** Generates random valid operations on a schema, with aliases, fragments, conditions, arguments and variables. */
import {
  type GraphQLArgument,
  type GraphQLCompositeType,
  type GraphQLNamedType,
  type GraphQLSchema,
  getNamedType,
  isAbstractType,
  isCompositeType,
  isInterfaceType,
  isUnionType,
  parse,
  validate,
} from 'graphql';
import type { Random } from './random.ts';

export interface FuzzOperation {
  readonly query: string;
  readonly variables: Record<string, unknown>;
}

/** Returns undefined when the generated operation is not valid. */
export function generateOperation(schema: GraphQLSchema, random: Random): FuzzOperation | undefined {
  const isMutation = random.chance(0.1) && schema.getMutationType();
  const root = (isMutation ? schema.getMutationType() : schema.getQueryType()) as GraphQLCompositeType;
  const fragments: string[] = [];
  const body = select(root, { depth: 5, schema, random, fragments });
  if (body === '') return undefined;
  const declared = '($a: Boolean!, $b: Boolean = false, $n: Int, $f: Filter, $c: Color = GREEN)';
  const uses = ['z1: __typename @include(if: $a)', 'z2: __typename @skip(if: $b)'].join(' ');
  const query = `${isMutation ? 'mutation' : 'query'} Op${declared} { ${body} ${uses} }\n${fragments.join('\n')}`;
  const unused = ['n', 'f', 'c'].filter((name) => !new RegExp(`[^(]\\$${name}\\b(?!:)`).test(query.replace(declared, '')));
  const text = unused.reduce((all, name) => all.replace(new RegExp(`, \\$${name}: [^,)]+`), ''), query);
  if (validate(schema, parse(text)).length > 0) return undefined;
  const variables: Record<string, unknown> = { a: random.chance(0.5) };
  if (random.chance(0.5)) variables['b'] = random.chance(0.5);
  if (random.chance(0.7) && !unused.includes('n')) variables['n'] = random.upTo(3);
  if (random.chance(0.5) && !unused.includes('f')) variables['f'] = random.pick([{ a: 1 }, { b: ['x'] }, { a: null, c: 'RED' }, {}]);
  if (random.chance(0.3) && !unused.includes('c')) variables['c'] = 'BLUE';
  return { query: text, variables };
}

interface Where {
  readonly depth: number;
  readonly schema: GraphQLSchema;
  readonly random: Random;
  readonly fragments: string[];
}

function select(type: GraphQLCompositeType, where: Where): string {
  const { depth, schema, random, fragments } = where;
  const parts: string[] = [];
  const deeper = { ...where, depth: depth - 1 };
  for (let i = random.upTo(3); i >= 0; i--) {
    const condition = random.chance(0.12)
      ? random.pick([' @include(if: $a)', ' @skip(if: $a)', ' @include(if: $b)', ' @skip(if: false)', ' @include(if: $a) @skip(if: $b)'])
      : '';
    if (random.chance(0.1)) parts.push(`${random.chance(0.3) ? 'tn: ' : ''}__typename`);
    else if (isUnionType(type) || random.chance(isAbstractType(type) ? 0.5 : 0.15)) {
      const on = random.pick(conditionsOf(schema, type));
      const inner = depth > 0 ? select(on, deeper) : '';
      if (inner === '') continue;
      if (random.chance(0.3)) {
        const name = `F${fragments.length}`;
        fragments.push(`fragment ${name} on ${on.name} { ${inner} }`);
        parts.push(`...${name}${condition}`);
      } else parts.push(`... ${random.chance(0.9) || on !== type ? `on ${on.name}` : ''}${condition} { ${inner} }`);
    } else if (!isUnionType(type)) {
      const field = random.pick(Object.values(type.getFields()));
      const named: GraphQLNamedType = getNamedType(field.type);
      const alias = random.chance(0.12) ? `al${random.upTo(2)}: ` : '';
      const head = `${alias}${field.name}${writeArguments(field.args, random)}${condition}`;
      if (!isCompositeType(named)) parts.push(head);
      else {
        const inner = depth > 0 ? select(named, deeper) : '';
        if (inner !== '') parts.push(`${head} { ${inner} }`);
      }
    }
  }
  return parts.join(' ');
}

/** Without the interfaces of objects: the stock engine loses a fragment on an object type in a fragment on its interface. */
function conditionsOf(schema: GraphQLSchema, type: GraphQLCompositeType): GraphQLCompositeType[] {
  return isAbstractType(type) ? [...schema.getPossibleTypes(type), ...(isInterfaceType(type) ? [type] : [])] : [type];
}

function writeArguments(args: readonly GraphQLArgument[], random: Random): string {
  const written = random.some(args, 0.5).map(({ name }) => {
    if (name === 'n') return `n: ${random.pick(['$n', '1', '2'])}`;
    if (name === 'c') return `c: ${random.pick(['$c', 'RED'])}`;
    return `f: ${random.pick(['$f', '{ a: 3 }', '{ b: ["y"], a: $n }'])}`;
  });
  return written.length > 0 ? `(${written.join(', ')})` : '';
}
