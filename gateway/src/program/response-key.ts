/** The keys of a result: those under which subgraphs are asked are those of the client, but for one. */

/** Stands for the alias `__typename` of another field wherever data of subgraphs are kept: there `__typename` is the type's name. */
export const TYPENAME_ALIAS = 'trestle_typename';

/** Returns the key that the client sees. */
export function toResponseKey(key: string): string {
  return key === TYPENAME_ALIAS ? '__typename' : key;
}
