/**
 * The only ways in which text of a document gets into generated code. Every name comes from a document that was validated against the schema,
 * and still enters as a JSON string literal only; nothing of a client is ever an identifier or an expression.
 */

/** A JavaScript string literal. */
export function quote(text: string): string {
  return JSON.stringify(text).replaceAll('\u2028', '\\u2028').replaceAll('\u2029', '\\u2029');
}

/** Reads a key of a plain object; keys that every object inherits are looked at with more care. */
export function read(object: string, key: string): string {
  return key in Object.prototype ? `own(${object},${quote(key)})` : `${object}[${quote(key)}]`;
}

/** Declares what the reading of inherited names needs. */
export const OWN = 'const own=(o,k)=>Object.prototype.hasOwnProperty.call(o,k)?o[k]:undefined;';
