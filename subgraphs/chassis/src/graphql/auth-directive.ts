/** Enforces `@auth(requires:)`: wraps the resolvers of guarded fields (spec §5.8, contract §3). */
import { type Caller, type Role, hasRole } from '@trestle/identity';
import { insufficientScope } from '@trestle/identity/required-scopes';
import type { Scope } from '@trestle/identity/scopes';
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

/** What `@auth` does not say in the SDL. */
export interface AuthRules {
  /** By field coordinate: whether the caller may read the field whatever the role, e.g. an account its own e-mail address. */
  readonly owners?: Readonly<Record<string, (source: never, caller: Caller | null) => boolean>>;
  /** By field coordinate: the scope without which a caller counts as anonymous there. */
  readonly scopes?: Readonly<Record<string, Scope>>;
  /** By field coordinate: the value of a denied non-null field. Without a mask the field throws. */
  readonly masks?: Readonly<Record<string, string>>;
}

/** Guards every field that has the directive. Throws at start for a rule of a field without `@auth`, or a mask that the type does not allow. */
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
  for (const coordinate of Object.keys({ ...rules.owners, ...rules.scopes, ...rules.masks })) {
    if (!guarded.has(coordinate)) throw new Error(`There is an auth rule for ${coordinate}, which has no @auth.`);
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
  const scope = rules.scopes?.[coordinate];
  const resolve = field.resolve ?? defaultFieldResolver;
  if (mask !== undefined && !(isNonNullType(field.type) && isLeafType(getNamedType(field.type)))) {
    throw new Error(`The mask of ${coordinate} needs a non-null leaf type.`);
  }
  field.resolve = (source, args, context, info) => {
    const caller = scope === undefined || context.caller?.scopes.has(scope) ? context.caller : null;
    const mayRead = (who: Caller | null) => hasRole(who, requires) || isOwner?.(source, who) === true;
    if (mayRead(caller)) return resolve(source, args, context, info);
    const missing = scope !== undefined && caller !== context.caller && mayRead(context.caller) ? [scope] : undefined;
    if (mask === undefined) throw missing ? insufficientScope(`Field \`${coordinate}\``, missing) : denied(context, coordinate);
    countDenial(context, { coordinate, requires, info, missing });
    return mask;
  };
  return coordinate;
}

/** Guards the start of a subscription: a caller who may subscribe may receive each event. */
function guardStream(type: GraphQLObjectType, field: GraphQLField<unknown, RequestContext>, requires: Role): string {
  const coordinate = `${type.name}.${field.name}`;
  const { subscribe } = field;
  // Without a resolver nobody could subscribe.
  if (!subscribe) throw new Error(`${coordinate} has no resolver.`);
  field.subscribe = (source, args, context, info) => {
    if (!hasRole(context.caller, requires)) throw denied(context, coordinate);
    return subscribe(source, args, context, info);
  };
  return coordinate;
}

function denied({ caller }: RequestContext, coordinate: string): Error {
  return caller ? fail('FORBIDDEN', `${coordinate} requires another role.`) : fail('UNAUTHORIZED', 'Authentication is required.');
}

interface MaskedField {
  readonly coordinate: string;
  readonly requires: Role;
  readonly info: GraphQLResolveInfo;
  /** The scopes with which the caller could read the field. */
  readonly missing: readonly string[] | undefined;
}

function countDenial({ denials }: RequestContext, { coordinate, requires, info, missing }: MaskedField): void {
  const denial = denials.get(coordinate) ?? { coordinate, requires, path: toPath(info.path), count: 0 };
  denial.count++;
  if (missing) denial.requiredScopes = missing;
  denials.set(coordinate, denial);
}

function toPath(path: GraphQLResolveInfo['path']): (string | number)[] {
  const keys: (string | number)[] = [];
  for (let at: GraphQLResolveInfo['path'] | undefined = path; at; at = at.prev) keys.unshift(at.key);
  return keys;
}

/** The SDL's default is USER; the schema has been validated, so an enum value is a role. */
function requiredRole({ arguments: [argument] = [] }: ConstDirectiveNode): Role {
  return argument?.value.kind === Kind.ENUM ? (argument.value.value as Role) : 'USER';
}
