/**
 * Reads `@authenticated`, `@requiresScopes` and `@policy` (federation 2.5 and 2.6) from a supergraph, and removes them: Apollo's library refuses a
 * supergraph with features for security that it does not enforce.
 */
import {
  type ConstDirectiveNode,
  type ConstValueNode,
  type DefinitionNode,
  type DocumentNode,
  type FieldDefinitionNode,
  Kind,
  visit,
} from 'graphql';
import type { AccessRule } from '../../access/access-rule.ts';

/** The rules of types, by name, and of fields, by coordinate. */
export type AccessRules = ReadonlyMap<string, readonly AccessRule[]>;

export interface ReadSupergraph {
  /** The supergraph without the directives, their definitions and their links. */
  readonly document: DocumentNode;
  readonly rules: AccessRules;
}

const FEATURES = {
  authenticated: { kind: 'authenticated', argument: undefined, type: undefined },
  requiresScopes: { kind: 'scopes', argument: 'scopes', type: 'Scope' },
  policy: { kind: 'policies', argument: 'policies', type: 'Policy' },
} as const;
type Feature = keyof typeof FEATURES;

const VERSION = 'v0.1';
const FEATURE_URL = /^https:\/\/specs\.apollo\.dev\/(authenticated|requiresScopes|policy)(?:\/(.*))?$/;

/** The names in the supergraph: links may rename what they import (link specification, `as` and `import`). */
interface Names {
  readonly directives: Map<string, Feature>;
  readonly scalars: Set<string>;
}

/**
 * Returns the rules, and the supergraph without them; the same document when it links none of these features. Throws an Error for another version
 * of a feature, for invalid arguments, and for a directive where it is not allowed.
 */
export function readAccessRules(document: DocumentNode): ReadSupergraph {
  const names: Names = { directives: new Map(), scalars: new Set() };
  const definitions = document.definitions.map((definition) => readLinks(definition, names));
  if (names.directives.size === 0) return { document, rules: new Map() };
  const rules = new Map<string, readonly AccessRule[]>();
  const kept = definitions.filter((definition) => !isDefinitionOf(definition, names)).map((each) => takeRules(each, { names, rules }));
  const stripped: DocumentNode = { ...document, definitions: kept };
  visit(stripped, {
    Directive({ name: { value } }) {
      if (names.directives.has(value)) throw new Error(`The supergraph has @${value} where the directive is not allowed.`);
    },
  });
  return { document: stripped, rules };
}

/** Returns the schema definition without the links of the features, and adds their names. */
function readLinks(definition: DefinitionNode, names: Names): DefinitionNode {
  if (definition.kind !== Kind.SCHEMA_DEFINITION && definition.kind !== Kind.SCHEMA_EXTENSION) return definition;
  const directives = definition.directives?.filter((directive) => {
    if (directive.name.value !== 'link') return true;
    const [, feature, version] = FEATURE_URL.exec(textOf(argumentOf(directive, 'url')) ?? '') ?? [];
    if (feature === undefined) return true;
    if (version !== VERSION)
      throw new Error(`The supergraph links version ${version ?? 'none'} of ${feature}; only ${VERSION} is supported.`);
    addNames(directive, feature as Feature, names);
    return false;
  });
  return { ...definition, directives: directives ?? [] };
}

function addNames(link: ConstDirectiveNode, feature: Feature, { directives, scalars }: Names): void {
  const prefix = textOf(argumentOf(link, 'as')) ?? feature;
  const { type } = FEATURES[feature];
  directives.set(prefix, feature);
  if (type !== undefined) scalars.add(`${prefix}__${type}`);
  const imports = argumentOf(link, 'import');
  for (const value of imports?.kind === Kind.LIST ? imports.values : []) {
    const { name, as } = readImport(value);
    if (name === `@${feature}`) directives.set(as.replace(/^@/, ''), feature);
    else if (name === type) scalars.add(as);
    else throw new Error(`The supergraph imports ${name} from ${feature}, which does not have it.`);
  }
}

/** Of `"@policy"` and of `{name: "@policy", as: "@may"}`. */
function readImport(value: ConstValueNode): { name: string; as: string } {
  if (value.kind !== Kind.OBJECT) {
    const name = textOf(value) ?? '';
    return { name, as: name };
  }
  const field = (key: string) => textOf(value.fields.find((each) => each.name.value === key)?.value);
  const name = field('name') ?? '';
  return { name, as: field('as') ?? name };
}

function isDefinitionOf(definition: DefinitionNode, { directives, scalars }: Names): boolean {
  if (definition.kind === Kind.DIRECTIVE_DEFINITION) return directives.has(definition.name.value);
  return definition.kind === Kind.SCALAR_TYPE_DEFINITION && scalars.has(definition.name.value);
}

interface Taking {
  readonly names: Names;
  readonly rules: Map<string, readonly AccessRule[]>;
}

/** Returns the definition without the directives of its type and fields, and adds their rules. */
function takeRules(definition: DefinitionNode, taking: Taking): DefinitionNode {
  switch (definition.kind) {
    case Kind.OBJECT_TYPE_DEFINITION:
    case Kind.INTERFACE_TYPE_DEFINITION: {
      const type = definition.name.value;
      const fields = definition.fields?.map((field): FieldDefinitionNode => takeOwn(field, `${type}.${field.name.value}`, taking));
      return { ...takeOwn(definition, type, taking), fields: fields ?? [] };
    }
    case Kind.SCALAR_TYPE_DEFINITION:
    case Kind.ENUM_TYPE_DEFINITION:
      return takeOwn(definition, definition.name.value, taking);
    default:
      return definition;
  }
}

function takeOwn<T extends { readonly directives?: readonly ConstDirectiveNode[] | undefined }>(
  node: T,
  place: string,
  { names, rules }: Taking,
): T {
  const own: AccessRule[] = [];
  const directives = node.directives?.filter((directive) => {
    const feature = names.directives.get(directive.name.value);
    if (feature !== undefined) own.push(toRule(directive, feature, place));
    return feature === undefined;
  });
  if (own.length === 0) return node;
  rules.set(place, [...(rules.get(place) ?? []), ...own]);
  return { ...node, directives };
}

/** Throws an Error unless the argument is a list of lists of strings, each with at least one entry: an empty one would allow or deny all callers. */
function toRule(directive: ConstDirectiveNode, feature: Feature, place: string): AccessRule {
  const { kind, argument } = FEATURES[feature];
  const given = directive.arguments ?? [];
  const refuse = (demand: string): never => {
    throw new Error(`@${directive.name.value} on ${place} must have ${demand}.`);
  };
  const unknown = given.find(({ name }) => name.value !== argument);
  if (unknown) refuse(argument === undefined ? 'no arguments' : `only the argument \`${argument}\``);
  if (kind === 'authenticated') return { kind };
  const lists = listOf(given[0]?.value)?.map((all) => listOf(all)?.map((each) => textOf(each) ?? ''));
  if (!lists?.length || !lists.every((all) => all !== undefined && all.length > 0 && all.every((each) => each !== '')))
    refuse(`\`${argument}\`: a list of lists of strings, each with at least one entry`);
  return { kind, anyOf: lists as string[][] };
}

function listOf(value: ConstValueNode | undefined): readonly ConstValueNode[] | undefined {
  return value?.kind === Kind.LIST ? value.values : undefined;
}

function argumentOf({ arguments: given = [] }: ConstDirectiveNode, name: string): ConstValueNode | undefined {
  return given.find((each) => each.name.value === name)?.value;
}

function textOf(value: ConstValueNode | undefined): string | undefined {
  return value?.kind === Kind.STRING ? value.value : undefined;
}
