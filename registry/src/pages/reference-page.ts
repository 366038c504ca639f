/** The reference of the registry's API: a page without scripts and external resources that is made from its schema. No I/O. */
import { escapeHtml as escape } from '@trestle/service/messages/page';
import {
  type ConstValueNode,
  type GraphQLField,
  type GraphQLNamedType,
  type GraphQLSchema,
  type GraphQLType,
  getNamedType,
  isEnumType,
  isInputObjectType,
  isIntrospectionType,
  isObjectType,
  isSpecifiedScalarType,
  print,
} from 'graphql';

/** The style sheet of the page. */
export const REFERENCE_STYLE = `
  :root { color-scheme: light dark; --line: color-mix(in srgb, currentColor 20%, transparent); --soft: color-mix(in srgb, currentColor 6%, transparent) }
  body { font: 16px/1.5 system-ui, sans-serif; margin: 0; display: grid; grid-template-columns: 19rem minmax(0, 60rem) }
  nav { position: sticky; top: 0; height: 100vh; overflow: auto; padding: 1.5rem; box-sizing: border-box; border-right: 1px solid var(--line); font-size: .85rem }
  nav ul { list-style: none; padding: 0; margin: .25rem 0 1rem }
  nav a { text-decoration: none; color: inherit } nav a:hover { text-decoration: underline }
  .skip { position: absolute; left: 1rem; top: -9rem; padding: .5rem 1rem; background: Canvas } .skip:focus { top: 0; z-index: 1 }
  main { padding: 1.5rem 2.5rem 6rem } section { border-top: 1px solid var(--line); padding-top: 1rem; margin-top: 2rem }
  code { font-family: ui-monospace, monospace; font-size: .85em } dd { margin: 0 0 .75rem 1.5rem } dd dl { margin: .25rem 0 }
  @media (max-width: 60rem) { body { display: block } nav { position: static; height: auto; max-height: 40vh; border-right: 0; border-bottom: 1px solid var(--line) } main { padding: 1rem; overflow-wrap: anywhere } }`;

/** Returns the page of a schema. */
export function toReferencePage(schema: GraphQLSchema): string {
  const types = Object.values(schema.getTypeMap())
    .filter((type) => !isIntrospectionType(type) && !isSpecifiedScalarType(type))
    .toSorted((a, b) => rankOf(a, schema) - rankOf(b, schema) || (a.name < b.name ? -1 : 1));
  const links = types.map(({ name }) => `<li><a href="#${name}">${name}</a></li>`);
  return `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<title>Registry of schemas</title><link rel="icon" href="data:,"><style>${REFERENCE_STYLE}</style></head>
<body><a class="skip" href="#content">Skip to the content</a><nav aria-label="Contents"><strong>Types</strong><ul>${links.join('')}</ul></nav>
<main id="content"><h1>Registry of schemas</h1>
<p>The GraphQL API of the registry, at <a href="/graphql"><code>/graphql</code></a>, with GraphiQL in browsers. Every field of
<a href="#Query">Query</a> and <a href="#Mutation">Mutation</a> needs a token: <code>Authorization: Bearer trestle_reg_…</code></p>
${types.map(toSection).join('\n')}</main></body></html>
`;
}

/** Operations come first, then what they return and take. */
function rankOf(type: GraphQLNamedType, schema: GraphQLSchema): number {
  if (type === schema.getQueryType()) return 0;
  if (type === schema.getMutationType()) return 1;
  if (isObjectType(type)) return 2;
  return isInputObjectType(type) ? 3 : isEnumType(type) ? 4 : 5;
}

function toSection(type: GraphQLNamedType): string {
  return `<section id="${type.name}"><h2><code>${type.name}</code></h2>${toProse(type.description)}${toMembers(type)}</section>`;
}

function toMembers(type: GraphQLNamedType): string {
  if (isObjectType(type)) return toList(Object.values(type.getFields()).map((field) => toEntry(field, toArguments(field))));
  if (isInputObjectType(type)) return toList(Object.values(type.getFields()).map((field) => toEntry(field, '')));
  if (!isEnumType(type)) return '';
  return toList(type.getValues().map(({ name, description }) => `<dt><code>${name}</code></dt><dd>${toProse(description)}</dd>`));
}

function toArguments({ args }: GraphQLField<unknown, unknown>): string {
  return args.length === 0 ? '' : toList(args.map((argument) => toEntry(argument, '')));
}

/** A field, an argument, or a field of an input. */
interface Member {
  readonly name: string;
  readonly description?: string | null | undefined;
  readonly type: GraphQLType;
  readonly astNode?: { readonly defaultValue?: ConstValueNode | undefined } | object | null | undefined;
}

function toEntry(member: Member, below: string): string {
  const { name, description, type, astNode } = member;
  const fallback = astNode && 'defaultValue' in astNode && astNode.defaultValue ? ` = ${escape(print(astNode.defaultValue))}` : '';
  return `<dt><code>${name}: ${toTypeLink(type)}${fallback}</code></dt><dd>${toProse(description)}${below}</dd>`;
}

/** Types of this schema have a section; `String` and the like have none. */
function toTypeLink(type: GraphQLType): string {
  const named = getNamedType(type);
  if (isSpecifiedScalarType(named)) return escape(String(type));
  return escape(String(type)).replace(named.name, `<a href="#${named.name}">${named.name}</a>`);
}

function toList(entries: readonly string[]): string {
  return `<dl>${entries.join('')}</dl>`;
}

/** Descriptions are Markdown, of which code spans are used here. */
function toProse(description: string | null | undefined): string {
  return description ? `<p>${escape(description).replace(/`([^`]+)`/g, '<code>$1</code>')}</p>` : '';
}
