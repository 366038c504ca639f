/** The directives of Apollo's specifications in a supergraph, by the names that its links give them: `@tag`, `@inaccessible` and others. No I/O. */
import { type ConstDirectiveNode, type DefinitionNode, type DocumentNode, Kind, type SchemaDefinitionNode, parse } from 'graphql';

/** What the directives are called in a supergraph: a subgraph may import them under other names. */
export interface SpecificationNames {
  readonly tag: string;
  readonly inaccessible: string;
}

const SPECIFICATION = 'https://specs.apollo.dev/';
const LOCATIONS = `FIELD_DEFINITION | OBJECT | INTERFACE | UNION | ENUM | ENUM_VALUE | SCALAR | INPUT_OBJECT | INPUT_FIELD_DEFINITION \
| ARGUMENT_DEFINITION`;

/** Returns the names of the directives, and the supergraph with a link and a definition of `@inaccessible`, which are added when it has none. */
export function linkInaccessible(document: DocumentNode): { readonly document: DocumentNode; readonly names: SpecificationNames } {
  const links = listLinks(document);
  const names = { tag: findName(links, 'tag') ?? 'tag', inaccessible: findName(links, 'inaccessible') ?? 'inaccessible' };
  if (findName(links, 'inaccessible') !== undefined) return { document, names };
  const [schema, definition] = parse(
    `schema @link(url: "${SPECIFICATION}inaccessible/v0.2", for: SECURITY) { query: Query } directive @inaccessible on ${LOCATIONS}`,
  ).definitions as [SchemaDefinitionNode, DefinitionNode];
  const definitions = document.definitions.map((each) =>
    each.kind === Kind.SCHEMA_DEFINITION ? { ...each, directives: [...(each.directives ?? []), ...(schema.directives ?? [])] } : each,
  );
  return { document: { ...document, definitions: [...definitions, definition] }, names };
}

/** Returns the name of the directive of a specification of Apollo in a supergraph, such as `authenticated`; undefined when it is not linked. */
export function findDirective(document: DocumentNode, specification: string): string | undefined {
  return findName(listLinks(document), specification);
}

function listLinks(document: DocumentNode): ConstDirectiveNode[] {
  return document.definitions.flatMap((each) => (each.kind === Kind.SCHEMA_DEFINITION ? (each.directives ?? []) : []));
}

/** Returns the name of a specification's directive in the supergraph, by `import` or `as` of its link; undefined when it is not linked. */
function findName(links: readonly ConstDirectiveNode[], specification: string): string | undefined {
  const link = links.find((each) => readArgument(each, 'url')?.startsWith(`${SPECIFICATION}${specification}/`));
  return link && (findImport(link, `@${specification}`) ?? readArgument(link, 'as') ?? specification);
}

function findImport(link: ConstDirectiveNode, name: string): string | undefined {
  const list = link.arguments?.find((argument) => argument.name.value === 'import')?.value;
  const items = list?.kind === Kind.LIST ? list.values : [];
  for (const item of items) {
    const read = (key: string) => (item.kind === Kind.OBJECT ? item.fields.find((each) => each.name.value === key)?.value : item);
    const [given, as] = [read('name'), read('as') ?? read('name')];
    if (given?.kind === Kind.STRING && given.value === name && as?.kind === Kind.STRING) return as.value.slice(1);
  }
  return undefined;
}

/** Returns the value of a directive's argument, if it is a string. */
export function readArgument(directive: ConstDirectiveNode, name: string): string | undefined {
  const value = directive.arguments?.find((argument) => argument.name.value === name)?.value;
  return value?.kind === Kind.STRING ? value.value : undefined;
}
