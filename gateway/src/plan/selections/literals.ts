/**
 * Writes names of a document into generated code. Nothing else may do so. Names come from documents that were validated against the schema, and are
 * written as JSON string literals only: no text of a client becomes an identifier or an expression.
 */

/** Returns a JavaScript string literal. */
export function quote(text: string): string {
  return JSON.stringify(text).replaceAll('\u2028', '\\u2028').replaceAll('\u2029', '\\u2029');
}

/** Returns an expression that reads an own property; for the names that every object inherits it checks that the property is an own one. */
export function read(object: string, key: string): string {
  return key in Object.prototype ? `own(${object},${quote(key)})` : `${object}[${quote(key)}]`;
}

/** Declares the function that the expressions of `read` call. */
export const OWN = 'const own=(o,k)=>Object.prototype.hasOwnProperty.call(o,k)?o[k]:undefined;';
