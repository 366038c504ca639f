/** Response keys in fetches: those of the client, except for one alias. */

/** Replaces the alias `__typename` of another field in fetches and in their results, where `__typename` must be the name of the type. */
export const TYPENAME_ALIAS = 'trestle_typename';

/** Returns the response key that the client sees. */
export function toResponseKey(key: string): string {
  return key === TYPENAME_ALIAS ? '__typename' : key;
}
