/**
 * Lints the SDL of a subgraph. The rules have the names and meaning of those of graphql-eslint, which would bring ESLint and 100 packages for four
 * rules (docs/adr/0042).
 */
import {
  type ASTNode,
  type ConstDirectiveNode,
  type DefinitionNode,
  type DirectiveDefinitionNode,
  type EnumValueDefinitionNode,
  type FieldDefinitionNode,
  type GraphQLError,
  type InputValueDefinitionNode,
  Kind,
  type NameNode,
  Source,
  type StringValueNode,
  type TypeDefinitionNode,
  type TypeExtensionNode,
  isTypeDefinitionNode,
  isTypeExtensionNode,
  parse,
} from 'graphql';
import { readArgument } from './contract-directives.ts';
import { type GraphFault, faultAtNodes, faultOfError } from './faults.ts';

/** The rules, by the names of graphql-eslint. */
export type LintRule = 'naming-convention' | 'require-description' | 'require-deprecation-reason' | 'no-typename-prefix';

/** Says for each rule how much a violation matters. */
export type LintRules = Readonly<Record<LintRule, 'off' | 'warn' | 'error'>>;

/** The rules of an environment that sets none: only a deprecation without a reason is an error. */
export const DEFAULT_LINT: LintRules = {
  'naming-convention': 'warn',
  'require-description': 'warn',
  'require-deprecation-reason': 'error',
  'no-typename-prefix': 'warn',
};

const PASCAL_CASE = /^[A-Z][A-Za-z0-9]*$/u;
const CAMEL_CASE = /^[a-z][A-Za-z0-9]*$/u;
const UPPER_CASE = /^[A-Z][A-Z0-9]*(_[A-Z0-9]+)*$/u;
const ROOT_TYPES = new Set(['Query', 'Mutation', 'Subscription']);
const EXTERNAL = 'external';
/** The name of a linked feature stands before its version. */
const FEATURE_URL = /\/([^/]+)(?:\/v\d+\.\d+)?\/?$/u;

type Report = (rule: LintRule, node: ASTNode, message: string) => void;
type Described = TypeDefinitionNode | FieldDefinitionNode | InputValueDefinitionNode | EnumValueDefinitionNode | DirectiveDefinitionNode;
type Member = FieldDefinitionNode | InputValueDefinitionNode | EnumValueDefinitionNode;

/** Returns what the rules find in a schema, in the order of its source. A schema with a syntax error has no other fault. */
export function lintSdl(name: string, sdl: string, rules: LintRules = DEFAULT_LINT): GraphFault[] {
  const faults: GraphFault[] = [];
  const report: Report = (rule, node, message) => {
    const setting = rules[rule];
    if (setting === 'off') return;
    faults.push(faultAtNodes({ code: rule, message, severity: setting === 'error' ? 'error' : 'warning' }, [node]));
  };
  try {
    const { definitions } = parse(new Source(sdl, name), { maxTokens: 2_000_000 });
    const features = listFeatures(definitions);
    for (const definition of definitions) {
      if (isOfFeature(definition, features)) continue;
      if (isTypeDefinitionNode(definition) || isTypeExtensionNode(definition)) lintType(definition, report);
      else if (definition.kind === Kind.DIRECTIVE_DEFINITION)
        for (const each of definition.arguments ?? []) lintName(each.name, CAMEL_CASE, report);
    }
  } catch (error) {
    return [faultOfError(error as GraphQLError, 'GRAPHQL_PARSE_FAILED')];
  }
  return faults;
}

/** Returns the names of the features that the schema links, by `as` or the end of their URLs. */
function listFeatures(definitions: readonly DefinitionNode[]): Set<string> {
  const schemas = definitions.filter((each) => each.kind === Kind.SCHEMA_DEFINITION || each.kind === Kind.SCHEMA_EXTENSION);
  const links = schemas.flatMap(({ directives }) => directives ?? []).filter(({ name }) => name.value === 'link');
  return new Set(links.flatMap((link) => readArgument(link, 'as') ?? FEATURE_URL.exec(readArgument(link, 'url') ?? '')?.[1] ?? []));
}

/** The names of what belongs to a feature begin with its own (link specification), and their form is that of the feature. */
function isOfFeature(definition: DefinitionNode, features: ReadonlySet<string>): boolean {
  const name = 'name' in definition ? definition.name.value : '';
  const end = name.indexOf('__');
  return end > 0 && features.has(name.slice(0, end));
}

function lintType(type: TypeDefinitionNode | TypeExtensionNode, report: Report): void {
  lintName(type.name, PASCAL_CASE, report);
  // The type itself is described where it is defined; root types need no words.
  if (isTypeDefinitionNode(type) && !ROOT_TYPES.has(type.name.value)) lintDescription(type, `Type "${type.name.value}"`, report);
  for (const value of 'values' in type ? (type.values ?? []) : []) lintMember(type, value, report);
  for (const field of 'fields' in type ? (type.fields ?? []) : []) {
    lintMember(type, field, report);
    lintPrefix(type, field, report);
    for (const argument of 'arguments' in field ? (field.arguments ?? []) : []) {
      lintName(argument.name, CAMEL_CASE, report);
      lintDeprecation(argument, report);
    }
  }
}

function lintMember(type: TypeDefinitionNode | TypeExtensionNode, member: Member, report: Report): void {
  lintName(member.name, member.kind === Kind.ENUM_VALUE_DEFINITION ? UPPER_CASE : CAMEL_CASE, report);
  lintDeprecation(member, report);
  // What another subgraph owns is described there.
  if (!findDirective(member, EXTERNAL)) lintDescription(member, `"${type.name.value}.${member.name.value}"`, report);
}

function lintName(name: NameNode, pattern: RegExp, report: Report): void {
  // Federation's own names begin with underscores.
  if (name.value.startsWith('_') || pattern.test(name.value)) return;
  const style = pattern === PASCAL_CASE ? 'PascalCase' : pattern === CAMEL_CASE ? 'camelCase' : 'UPPER_CASE';
  report('naming-convention', name, `Name "${name.value}" is not in ${style}.`);
}

function lintDescription(node: Described & { description?: StringValueNode | undefined }, what: string, report: Report): void {
  if (node.name.value.startsWith('_') || node.description?.value.trim()) return;
  report('require-description', node.name, `${what} has no description.`);
}

function lintDeprecation(node: { readonly directives?: readonly ConstDirectiveNode[] | undefined }, report: Report): void {
  const deprecated = findDirective(node, 'deprecated');
  if (deprecated === undefined) return;
  const reason = deprecated.arguments?.find(({ name }) => name.value === 'reason')?.value;
  if (reason?.kind === Kind.STRING && reason.value.trim() !== '') return;
  report('require-deprecation-reason', deprecated, 'Directive "@deprecated" has no reason. Say what to use instead.');
}

function lintPrefix(type: TypeDefinitionNode | TypeExtensionNode, field: Member, report: Report): void {
  const prefix = type.name.value.toLowerCase();
  const name = field.name.value;
  if (ROOT_TYPES.has(type.name.value) || name.length <= prefix.length || !name.toLowerCase().startsWith(prefix)) return;
  // "userId" of "User" repeats the type; "username" is a word of its own.
  if (!/^[A-Z_]/u.test(name.slice(prefix.length))) return;
  report('no-typename-prefix', field.name, `Field "${name}" repeats the name of its type "${type.name.value}".`);
}

function findDirective(node: { readonly directives?: readonly ConstDirectiveNode[] | undefined }, name: string) {
  return node.directives?.find((directive) => directive.name.value === name);
}
