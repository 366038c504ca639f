/** The schemas of representations, alone and included in another one. No I/O. */
import { type GraphQLField, type GraphQLSchema, getNamedType, isInterfaceType, isListType, isNonNullType, isObjectType } from 'graphql';
import type { ReaderContext } from '../query/request-reader.ts';
import type { Inclusion, Resource } from '../resources/resource.ts';
import { resourceAtVersion } from '../resources/resource-at-version.ts';
import { exampleOfResource } from './examples.ts';
import { type JsonSchema, LINK, toSchema } from './schemas.ts';

/** Returns the name of the schema of an included resource: a separate schema without inclusions, so that no schema is circular. */
export function toIncludedName({ type }: Resource): string {
  return `Included${type}`;
}

/** Returns the schema of a representation. No property is required, because `fields` may omit any. */
export function toResourceSchema({ schema, version }: ReaderContext, original: Resource): JsonSchema {
  const resource = resourceAtVersion(original, version);
  const type = schema.getType(resource.type);
  const hasFields = isObjectType(type) || isInterfaceType(type);
  const graphql = hasFields ? type.getFields() : {};
  const fields = Object.entries(resource.fields).map(([name, view]) => {
    const field = graphql[/^\w+/.exec(view.select)?.[0] ?? ''];
    const description = field?.description == null ? {} : { description: field.description };
    const schemaOf = view.schema ?? (field ? toSchema(field.type) : {});
    return [name, '$ref' in schemaOf ? schemaOf : { ...description, ...schemaOf }];
  });
  const included = Object.entries(resource.include)
    .filter(([name]) => !Object.hasOwn(resource.fields, name))
    .map(([name, inclusion]) => [name, toInclusionSchema(schema, { resource, name, inclusion })]);
  const shown = Object.fromEntries(fields) as Record<string, JsonSchema>;
  return {
    type: 'object',
    ...(hasFields && type.description != null && { description: type.description }),
    properties: {
      ...shown,
      ...Object.fromEntries(included),
      _masked: {
        type: 'array',
        items: { type: 'string' },
        description: 'The fields whose values are masked because the caller may not read them.',
      },
      ...(resource.links && {
        _links: { type: 'object', description: 'Links to related resources and possible actions.', additionalProperties: LINK },
      }),
      _errors: { $ref: '#/components/schemas/PartialErrors' },
    },
    examples: [exampleOfResource(resource, { version, fields: shown })],
  };
}

interface NamedInclusion {
  readonly resource: Resource;
  readonly name: string;
  readonly inclusion: Inclusion;
}

function toInclusionSchema(schema: GraphQLSchema, { resource, name, inclusion }: NamedInclusion): JsonSchema {
  const type = schema.getType(resource.type);
  const field: GraphQLField<unknown, unknown> | undefined = isObjectType(type) ? type.getFields()[name] : undefined;
  const one = { $ref: `#/components/schemas/${toIncludedName(inclusion.resource())}` };
  const description = `Only with \`include=${name}\`.`;
  const named = field && getNamedType(field.type).name;
  const isMany = field && (isListType(isNonNullType(field.type) ? field.type.ofType : field.type) || named?.endsWith('Connection'));
  return isMany ? { type: ['array', 'null'], description, items: one } : { description, anyOf: [one, { type: 'null' }] };
}
