/** Reads what the fields of the graph demand of a caller, from the supergraph: `@authenticated` and `@requiresScopes`. */
import { readFileSync } from 'node:fs';
import { type ConstDirectiveNode, type FieldDefinitionNode, Kind, parse } from 'graphql';
import { schemaPath } from './sdl.ts';

/** Lists of scopes of which a caller must have one completely. `[[]]` demands a caller, and no scope of it. */
export type FieldAccess = readonly (readonly string[])[];

/** Returns the demands by field coordinate, such as `Query.orders`. Fields that demand nothing are absent. */
export function readFieldAccess(): ReadonlyMap<string, FieldAccess> {
  const { definitions } = parse(readFileSync(schemaPath('supergraph.graphql'), 'utf8'), { noLocation: true });
  return new Map(
    definitions.flatMap((definition) =>
      definition.kind === Kind.OBJECT_TYPE_DEFINITION
        ? (definition.fields ?? []).flatMap((field) => {
            const access = accessOf(field);
            return access ? [[`${definition.name.value}.${field.name.value}`, access] as const] : [];
          })
        : [],
    ),
  );
}

function accessOf({ directives = [] }: FieldDefinitionNode): FieldAccess | undefined {
  const scopes = directives.find(({ name }) => name.value === 'requiresScopes');
  if (scopes) return readScopes(scopes);
  return directives.some(({ name }) => name.value === 'authenticated') ? [[]] : undefined;
}

function readScopes({ arguments: [argument] = [] }: ConstDirectiveNode): FieldAccess {
  const lists = argument?.value.kind === Kind.LIST ? argument.value.values : [];
  return lists.map((all) =>
    all.kind === Kind.LIST ? all.values.flatMap((scope) => (scope.kind === Kind.STRING ? [scope.value] : [])) : [],
  );
}
