/** The table of changes: the coordinate of each kind, and which uses it affects (use-keys.ts). */
import { type GraphQLSchema, isInputObjectType, isInterfaceType, isObjectType, isRequiredArgument, isRequiredInputField } from 'graphql';
import { type Compared, findBrokenSpreads } from './broken-spreads.ts';
import {
  argumentUse,
  directiveUse,
  inputUse,
  memberUse,
  omission,
  outputUse,
  repeatedUse,
  severalFields,
  typeUse,
  unknownInput,
  variableInput,
} from './use-keys.ts';

type Meta = Readonly<Record<string, unknown>>;

/** Says what one kind of change concerns. */
export interface ChangeRule {
  /** Returns the schema coordinate of what changed. */
  readonly coordinate: (meta: Meta) => string;
  /** Returns the keys of the uses that are affected. */
  readonly affects: (meta: Meta, compared: Compared) => string[];
}

const ONE_OF = 'oneOf';
const INPUT_CHANGE = /^(INPUT_FIELD_|FIELD_ARGUMENT_|DIRECTIVE_USAGE_INPUT_OBJECT_)/u;
const ADDITIONS = new Set(['ENUM_VALUE_ADDED', 'UNION_MEMBER_ADDED', 'OBJECT_TYPE_INTERFACE_ADDED']);

/** Returns whether a kind of change concerns what clients send. */
export function isInputChange(type: string): boolean {
  return INPUT_CHANGE.test(type);
}

/** Returns whether a kind of change adds something that results may contain: an enum value, a member of a union, an implementation. */
export function isPossibleTypeChange(type: string): boolean {
  return ADDITIONS.has(type);
}

/** A change as the library describes it. */
interface FoundChange {
  readonly type: unknown;
  readonly meta: unknown;
}

/** Returns whether a change adds an implementation to an interface that is there, so that results may contain a type that clients do not know. */
export function isNewImplementation({ type, meta }: FoundChange, { from, to }: Compared): boolean {
  if (type !== 'OBJECT_TYPE_INTERFACE_ADDED') return false;
  const { objectTypeName, addedInterfaceName } = meta as Meta;
  return isObjectType(to.getType(String(objectTypeName))) && from.getType(String(addedInterfaceName)) !== undefined;
}

/**
 * Returns whether a change takes the default of an argument or an input field that is not nullable, so that it is required: the library knows only
 * that the default is another one.
 */
export function isNewlyRequired({ type, meta }: FoundChange, { to }: Compared): boolean {
  if (type === 'FIELD_ARGUMENT_DEFAULT_CHANGED') return isArgumentRequired(meta as Meta, to);
  if (type === 'INPUT_FIELD_DEFAULT_VALUE_CHANGED') return isFieldRequired(meta as Meta, to);
  return type === 'DIRECTIVE_ARGUMENT_DEFAULT_VALUE_CHANGED' && isDirectiveArgumentRequired(meta as Meta, to);
}

/** Returns whether a kind of change makes operations invalid that the library only warns of: those that use the directive several times at one place. */
export function isBreaking({ type }: FoundChange): boolean {
  return type === 'DIRECTIVE_REPEATABLE_REMOVED';
}

/** Returns whether a change is that of a use of `@deprecated`, which harms no client. The library knows only that it is a directive. */
export function isUseOfDeprecated({ type, meta }: FoundChange): boolean {
  if (!String(type).startsWith('DIRECTIVE_USAGE_')) return false;
  const { directiveName, addedDirectiveName, removedDirectiveName } = meta as Meta;
  return [directiveName, addedDirectiveName, removedDirectiveName].includes('deprecated');
}

/** The rules by the library's name of the change. Changes of descriptions and deprecations have none: they affect no operation. */
export const CHANGE_RULES: Readonly<Record<string, ChangeRule | undefined>> = {
  FIELD_REMOVED: onMember('typeName', 'removedFieldName', ({ coordinate }) => [coordinate]),
  FIELD_ADDED: onMember('typeName', 'addedFieldName', () => []),
  FIELD_TYPE_CHANGED: onMember('typeName', 'fieldName', ({ coordinate }) => [coordinate]),
  FIELD_ARGUMENT_ADDED: onArgument('addedArgumentName', ({ field }) => [field]),
  FIELD_ARGUMENT_REMOVED: onArgument('removedFieldArgumentName', ({ argument }) => [argument]),
  FIELD_ARGUMENT_DEFAULT_CHANGED: onArgument('argumentName', ({ argument }) => [omission(argument)]),
  FIELD_ARGUMENT_TYPE_CHANGED: onArgument('argumentName', ({ argument }, meta, to) =>
    isArgumentRequired(meta, to) ? [argument, omission(argument)] : [argument],
  ),
  ENUM_VALUE_REMOVED: onMember('enumName', 'removedEnumValueName', ({ coordinate, type }) => [coordinate, unknownInput(type)]),
  ENUM_VALUE_ADDED: onMember('enumName', 'addedEnumValueName', ({ type }) => [outputUse(type)]),
  INPUT_FIELD_REMOVED: onMember('inputName', 'removedFieldName', ({ coordinate, type }) => [coordinate, unknownInput(type)]),
  INPUT_FIELD_ADDED: onMember('inputName', 'addedInputFieldName', ({ type }) => [inputUse(type)]),
  INPUT_FIELD_DEFAULT_VALUE_CHANGED: onMember('inputName', 'inputFieldName', ({ coordinate, type }) => [
    omission(coordinate),
    variableInput(type),
  ]),
  INPUT_FIELD_TYPE_CHANGED: onMember('inputName', 'inputFieldName', ({ coordinate, type }, meta, to) => [
    ...[coordinate, unknownInput(type)],
    ...(isFieldRequired(meta, to) ? [omission(coordinate), variableInput(type)] : []),
  ]),
  TYPE_REMOVED: {
    coordinate: text('removedTypeName'),
    affects: (meta, compared) => {
      const type = text('removedTypeName')(meta);
      return [typeUse(type), inputUse(type), ...findBrokenSpreads(type, compared)];
    },
  },
  TYPE_KIND_CHANGED: onType('typeName'),
  OBJECT_TYPE_INTERFACE_ADDED: { coordinate: text('objectTypeName'), affects: (meta) => [typeUse(text('addedInterfaceName')(meta))] },
  OBJECT_TYPE_INTERFACE_REMOVED: { coordinate: text('objectTypeName'), affects: (meta) => [typeUse(text('removedInterfaceName')(meta))] },
  UNION_MEMBER_ADDED: onType('unionName'),
  UNION_MEMBER_REMOVED: onType('unionName'),
  SCHEMA_QUERY_TYPE_CHANGED: onType('oldQueryTypeName'),
  SCHEMA_MUTATION_TYPE_CHANGED: onType('oldMutationTypeName'),
  SCHEMA_SUBSCRIPTION_TYPE_CHANGED: onType('oldSubscriptionTypeName'),
  DIRECTIVE_REMOVED: onDirective('removedDirectiveName'),
  DIRECTIVE_LOCATION_REMOVED: onDirective('directiveName'),
  DIRECTIVE_REPEATABLE_REMOVED: {
    coordinate: (meta) => directiveUse(text('directiveName')(meta)),
    affects: (meta) => [repeatedUse(text('directiveName')(meta))],
  },
  DIRECTIVE_USAGE_INPUT_OBJECT_ADDED: {
    coordinate: (meta) => `${text('inputObjectName')(meta)}.${directiveUse(text('addedDirectiveName')(meta))}`,
    affects: (meta) => {
      const type = text('inputObjectName')(meta);
      return meta['addedDirectiveName'] === ONE_OF ? [severalFields(type), variableInput(type)] : [inputUse(type)];
    },
  },
  DIRECTIVE_ARGUMENT_ADDED: onDirective('directiveName'),
  DIRECTIVE_ARGUMENT_REMOVED: onDirective('directiveName', 'removedDirectiveArgumentName'),
  DIRECTIVE_ARGUMENT_TYPE_CHANGED: onDirective('directiveName', 'directiveArgumentName'),
  DIRECTIVE_ARGUMENT_DEFAULT_VALUE_CHANGED: onDirective('directiveName', 'directiveArgumentName'),
};

/** Returns a function that reads a string of a change's details. */
function text(key: string): (meta: Meta) => string {
  return (meta) => (typeof meta[key] === 'string' ? meta[key] : '');
}

function onType(key: string): ChangeRule {
  const type = text(key);
  return { coordinate: type, affects: (meta) => [typeUse(type(meta)), inputUse(type(meta))] };
}

/** The parts of the coordinate of a field, an input field or an enum value. */
interface Member {
  readonly coordinate: string;
  readonly type: string;
}

function onMember(typeKey: string, memberKey: string, affects: (member: Member, meta: Meta, to: GraphQLSchema) => string[]): ChangeRule {
  const [type, member] = [text(typeKey), text(memberKey)];
  const coordinate = (meta: Meta) => memberUse(type(meta), member(meta));
  return { coordinate, affects: (meta, { to }) => affects({ coordinate: coordinate(meta), type: type(meta) }, meta, to) };
}

function onArgument(
  key: string,
  affects: (coordinates: { field: string; argument: string }, meta: Meta, to: GraphQLSchema) => string[],
): ChangeRule {
  const field = (meta: Meta) => memberUse(text('typeName')(meta), text('fieldName')(meta));
  const argument = (meta: Meta) => argumentUse(field(meta), text(key)(meta));
  return { coordinate: argument, affects: (meta, { to }) => affects({ field: field(meta), argument: argument(meta) }, meta, to) };
}

/** A directive that operations use; one of its arguments is in the coordinate only. */
function onDirective(key: string, argumentKey?: string): ChangeRule {
  const directive = (meta: Meta) => directiveUse(text(key)(meta));
  const coordinate = (meta: Meta) => (argumentKey === undefined ? directive(meta) : argumentUse(directive(meta), text(argumentKey)(meta)));
  return { coordinate, affects: (meta) => [directive(meta)] };
}

function isArgumentRequired(meta: Meta, to: GraphQLSchema): boolean {
  const type = to.getType(text('typeName')(meta));
  if (!isObjectType(type) && !isInterfaceType(type)) return false;
  const argument = type.getFields()[text('fieldName')(meta)]?.args.find(({ name }) => name === text('argumentName')(meta));
  return argument !== undefined && isRequiredArgument(argument);
}

function isFieldRequired(meta: Meta, to: GraphQLSchema): boolean {
  const type = to.getType(text('inputName')(meta));
  const field = isInputObjectType(type) ? type.getFields()[text('inputFieldName')(meta)] : undefined;
  return field !== undefined && isRequiredInputField(field);
}

function isDirectiveArgumentRequired(meta: Meta, to: GraphQLSchema): boolean {
  const directive = to.getDirective(text('directiveName')(meta));
  const argument = directive?.args.find(({ name }) => name === text('directiveArgumentName')(meta));
  return argument !== undefined && isRequiredArgument(argument);
}
