/**
 * Names the ways in which an operation uses a schema, as keys of a set. An operation is affected by a change when its set has one of the
 * keys of the change. Coordinates are those of the GraphQL RFC "Schema Coordinates".
 */

/** Key of a type that is selected on, named by a fragment, or the type of a selected field. */
export function typeUse(type: string): string {
  return type;
}

/** Key and coordinate of a selected field, of an input field that is given, or of an enum value that is given. */
export function memberUse(type: string, member: string): string {
  return `${type}.${member}`;
}

/** Key and coordinate of an argument that is given. */
export function argumentUse(field: string, argument: string): string {
  return `${field}(${argument}:)`;
}

/** Key of an argument or an input field that is left out, or may be, because a nullable variable gives it. */
export function omission(coordinate: string): string {
  return `-${coordinate}`;
}

/** Key of an input type, an enum or a scalar of which a value is given. */
export function inputUse(type: string): string {
  return `<${type}`;
}

/** Key of an input type or an enum given by a variable, of which nobody recorded the content. */
export function unknownInput(type: string): string {
  return `<${type}?`;
}

/** Key of an input type given by a variable: which of its fields were left out is never recorded. */
export function variableInput(type: string): string {
  return `<${type}~`;
}

/** Key of a type that a result can have in it. */
export function outputUse(type: string): string {
  return `>${type}`;
}

/** Key and coordinate of a directive. */
export function directiveUse(directive: string): string {
  return `@${directive}`;
}

/** Key of a directive that is used several times at one place. */
export function repeatedUse(directive: string): string {
  return `*${directiveUse(directive)}`;
}

/** Key of an input type of which a value is given that does not have exactly one field with a value, as `@oneOf` demands. */
export function severalFields(type: string): string {
  return `<${type}+`;
}

/** Key of a fragment on one interface or union in a selection on another one: it is valid while an object type belongs to both. */
export function spreadUse(left: string, right: string): string {
  return left < right ? `${left}&${right}` : `${right}&${left}`;
}
