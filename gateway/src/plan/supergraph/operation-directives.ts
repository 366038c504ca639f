/** Keeps executable directives that subgraphs compose by `@composeDirective` in the schema of clients. */
import {
  type ASTNode,
  type ConstArgumentNode,
  type ConstDirectiveNode,
  type ConstValueNode,
  type DirectiveNode,
  type DocumentNode,
  type GraphQLSchema,
  Kind,
  astFromValue,
  isSpecifiedDirective,
  visit,
} from 'graphql';

const IN_OPERATIONS: ReadonlySet<string> = new Set([
  'QUERY',
  'MUTATION',
  'SUBSCRIPTION',
  'FIELD',
  'FRAGMENT_DEFINITION',
  'FRAGMENT_SPREAD',
  'INLINE_FRAGMENT',
  'VARIABLE_DEFINITION',
]);

/**
 * Returns the supergraph with links that do not import such directives: Apollo's library removes what a link imports from the schema that clients
 * see. Links of Apollo's own specifications stay, and those that say what they are for: a gateway that does not know one of them must not serve.
 */
export function keepOperationDirectives(document: DocumentNode): DocumentNode {
  const names = new Set<string>();
  for (const each of document.definitions)
    if (each.kind === Kind.DIRECTIVE_DEFINITION && each.locations.some(({ value }) => IN_OPERATIONS.has(value))) names.add(each.name.value);
  if (names.size === 0) return document;
  const edit = (directive: ConstDirectiveNode) => (isForeignLink(directive) ? withoutImports(directive, names) : directive);
  const editAll = <T extends { readonly directives?: readonly ConstDirectiveNode[] | undefined }>(node: T): T => ({
    ...node,
    directives: node.directives?.map(edit),
  });
  return visit(document, { SchemaDefinition: editAll, SchemaExtension: editAll });
}

function isForeignLink(directive: ConstDirectiveNode): boolean {
  if (directive.name.value !== 'link' || argumentOf(directive, 'for')) return false;
  return !textOf(argumentOf(directive, 'url'))?.startsWith('https://specs.apollo.dev/');
}

/**
 * A link owns the directive of its own name too, imported or not (of `https://directives.example/access/v1.0` that is `@access`): where that is one
 * of `names`, the link gets another name.
 */
function withoutImports(link: ConstDirectiveNode, names: ReadonlySet<string>): ConstDirectiveNode {
  const imports = argumentOf(link, 'import');
  const values = imports?.kind === Kind.LIST ? imports.values : [];
  const others = values.filter((each) => !names.has(importedName(each)));
  if (others.length === values.length) return link;
  const name = textOf(argumentOf(link, 'as')) ?? textOf(argumentOf(link, 'url'))?.split('/').at(-2) ?? '';
  const changed: Record<string, ConstValueNode> = { import: { kind: Kind.LIST, values: others } };
  if (names.has(name)) changed['as'] = { kind: Kind.STRING, value: `link_${name}` };
  const kept = (link.arguments ?? []).filter((each) => !(each.name.value in changed));
  const written = Object.entries(changed).map(([key, value]): ConstArgumentNode => ({
    kind: Kind.ARGUMENT,
    name: { kind: Kind.NAME, value: key },
    value,
  }));
  return { ...link, arguments: [...kept, ...written] };
}

/** Of `"@access"` and of `{name: "@scope", as: "@access"}`: `access`. */
function importedName(value: ConstValueNode): string {
  if (value.kind !== Kind.OBJECT) return textOf(value)?.slice(1) ?? '';
  const field = (key: string) => textOf(value.fields.find(({ name }) => name.value === key)?.value);
  return (field('as') ?? field('name'))?.slice(1) ?? '';
}

function argumentOf({ arguments: given = [] }: ConstDirectiveNode, name: string): ConstValueNode | undefined {
  return given.find((each) => each.name.value === name)?.value;
}

function textOf(value: ConstValueNode | undefined): string | undefined {
  return value?.kind === Kind.STRING ? value.value : undefined;
}

/**
 * Returns a function that writes the default values of arguments that a directive leaves out (GraphQL §6.4.1) into a part of a valid document: a
 * subgraph may define the directive with another default value, or without one. `@skip` and `@include` are left as they are.
 */
export function createDirectiveCompleter(schema: GraphQLSchema): <T extends ASTNode>(node: T) => T {
  const defaults = new Map<string, readonly ConstArgumentNode[]>();
  for (const directive of schema.getDirectives()) {
    if (isSpecifiedDirective(directive)) continue;
    const written = directive.args.flatMap(({ name, type, defaultValue }) => {
      const value = defaultValue === undefined ? undefined : astFromValue(defaultValue, type);
      return value ? [{ kind: Kind.ARGUMENT, name: { kind: Kind.NAME, value: name }, value } as ConstArgumentNode] : [];
    });
    if (written.length > 0) defaults.set(directive.name, written);
  }
  if (defaults.size === 0) return (node) => node;
  return (node) =>
    visit(node, {
      Directive(directive): DirectiveNode | undefined {
        const given = directive.arguments ?? [];
        const missing = defaults.get(directive.name.value)?.filter(({ name }) => !given.some((each) => each.name.value === name.value));
        return missing?.length ? { ...directive, arguments: [...given, ...missing] } : undefined;
      },
    });
}
