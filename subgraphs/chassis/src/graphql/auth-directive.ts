/** `@auth(requires:)` as a schema transform: wraps the resolvers of guarded fields (spec §5.8, contract §3). */
import { type Caller, type Role, hasRole } from '@trestle/identity';
import { fail } from '@trestle/schema/errors';
import {
  type ConstDirectiveNode,
  type GraphQLField,
  type GraphQLObjectType,
  type GraphQLResolveInfo,
  type GraphQLSchema,
  Kind,
  defaultFieldResolver,
  getNamedType,
  isLeafType,
  isNonNullType,
  isObjectType,
} from 'graphql';
import type { RequestContext } from '../request/context.ts';

export interface AuthRules {
  /** By field coordinate: who may read the field whatever his role, e.g. the account its own e-mail address. */
  readonly owners?: Readonly<Record<string, (source: never, caller: Caller | null) => boolean>>;
  /** By field coordinate: what a denied non-null field shows. Without a mask it throws. */
  readonly masks?: Readonly<Record<string, string>>;
}

/** Guards every field that has the directive. Throws at start for a rule that fits no guarded field or a mask that can't be shown. */
export function applyAuth(schema: GraphQLSchema, rules: AuthRules = {}): void {
  const guarded = new Set<string>();
  for (const type of Object.values(schema.getTypeMap())) {
    if (!isObjectType(type)) continue;
    for (const field of Object.values(type.getFields()) as GraphQLField<unknown, RequestContext>[]) {
      const directive = field.astNode?.directives?.find(({ name }) => name.value === 'auth');
      if (!directive) continue;
      const requires = requiredRole(directive);
      guarded.add(type === schema.getSubscriptionType() ? guardStream(type, field, requires) : guard(type, field, { requires, rules }));
    }
  }
  for (const coordinate of Object.keys({ ...rules.owners, ...rules.masks })) {
    if (!guarded.has(coordinate)) throw new Error(`There is a rule for ${coordinate}, which has no @auth`);
  }
}

function guard(
  type: GraphQLObjectType,
  field: GraphQLField<unknown, RequestContext>,
  { requires, rules }: { requires: Role; rules: AuthRules },
): string {
  const coordinate = `${type.name}.${field.name}`;
  const mask = rules.masks?.[coordinate];
  const isOwner = rules.owners?.[coordinate] as ((source: unknown, caller: Caller | null) => boolean) | undefined;
  const resolve = field.resolve ?? defaultFieldResolver;
  if (mask !== undefined && !(isNonNullType(field.type) && isLeafType(getNamedType(field.type)))) {
    throw new Error(`A mask needs a non-null leaf: ${coordinate}`);
  }
  field.resolve = (source, args, context, info) => {
    const { caller } = context;
    if (hasRole(caller, requires) || isOwner?.(source, caller)) return resolve(source, args, context, info);
    if (mask === undefined) throw denied(context, coordinate);
    countDenial(context, { coordinate, requires, info });
    return mask;
  };
  return coordinate;
}

/** Of a subscription its beginning is guarded: whoever may listen may have each event. */
function guardStream(type: GraphQLObjectType, field: GraphQLField<unknown, RequestContext>, requires: Role): string {
  const coordinate = `${type.name}.${field.name}`;
  const { subscribe } = field;
  // A subgraph without the resolver can't be listened to at all.
  if (!subscribe) throw new Error(`There is no resolver for ${coordinate}`);
  field.subscribe = (source, args, context, info) => {
    if (!hasRole(context.caller, requires)) throw denied(context, coordinate);
    return subscribe(source, args, context, info);
  };
  return coordinate;
}

function denied({ caller }: RequestContext, coordinate: string): Error {
  return caller ? fail('FORBIDDEN', `You may not use ${coordinate}`) : fail('UNAUTHORIZED', 'Authentication is required');
}

function countDenial(
  { denials }: RequestContext,
  { coordinate, requires, info }: { coordinate: string; requires: Role; info: GraphQLResolveInfo },
): void {
  const denial = denials.get(coordinate);
  if (denial) denial.count++;
  else denials.set(coordinate, { coordinate, requires, path: toPath(info.path), count: 1 });
}

function toPath(path: GraphQLResolveInfo['path']): (string | number)[] {
  const keys: (string | number)[] = [];
  for (let at: GraphQLResolveInfo['path'] | undefined = path; at; at = at.prev) keys.unshift(at.key);
  return keys;
}

/** The SDL's default is USER; the schema has been validated, so any other value is a Role. */
function requiredRole({ arguments: [argument] = [] }: ConstDirectiveNode): Role {
  return argument?.value.kind === Kind.ENUM ? (argument.value.value as Role) : 'USER';
}
