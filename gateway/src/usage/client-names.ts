/** Bounds the names that clients give themselves. */

const MAX_CHARACTERS = 100;
// eslint-disable-next-line no-control-regex -- a header may have a tab, which destinations refuse
const CONTROL = /[\u0000-\u001f\u007f]/g;

/** Returns a name or version without control characters, cut to 100 characters. */
export function boundName(name: string): string {
  // A slice of a string keeps the whole string in memory, and a header may be long: the bytes are copied.
  const cut = name.length <= MAX_CHARACTERS ? name : Buffer.from(name.slice(0, MAX_CHARACTERS), 'utf16le').toString('utf16le');
  return cut.replace(CONTROL, ' ');
}
