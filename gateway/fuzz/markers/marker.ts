/** Markers: each request has one of its own, which every string in its result contains. One in another request's response is a leak. */

/** Stands for the marker in texts that are the same for all requests. */
export const SAMPLE = 'mk0000000000km';
const MARKER = /mk[0-9a-z]{10}km/g;
const DIGITS = 10;
/** What bytes of released memory become as text: 0xfe is not UTF-8. */
const INVALID = '\ufffd';
/** More would make a report unreadable. */
const MAX_FOUND = 3;

/** Returns a function that returns a new marker at each call. */
export function createMarkers(): () => string {
  let last = 0;
  return () => `mk${(++last).toString(36).padStart(DIGITS, '0')}km`;
}

/** Returns the first marker in a string. */
export function findMarker(text: string): string | undefined {
  return (text.match(MARKER) ?? unescape(text).match(MARKER))?.[0];
}

/** Returns the text for another marker, also where each of its characters is escaped. */
export function replaceMarker(text: string, from: string, to: string): string {
  const plain = text.replaceAll(from, to);
  return plain.includes('\\u') ? plain.replaceAll(escape(from), escape(to)) : plain;
}

/** Returns what must not be in a response to the request with this marker: markers of other requests, and bytes that are not UTF-8. */
export function findForeign(text: string, own: string): string[] {
  const found = new Set<string>();
  const add = (part: string) => {
    for (const marker of part.match(MARKER) ?? []) if (marker !== own) found.add(marker);
    if (part.includes(INVALID)) found.add('bytes that are not UTF-8');
  };
  add(text);
  if (text.includes('\\u')) add(unescape(text));
  return [...found].slice(0, MAX_FOUND);
}

function unescape(text: string): string {
  return text.replaceAll(/\\u([0-9a-f]{4})/gi, (_, digits: string) => String.fromCharCode(parseInt(digits, 16)));
}

function escape(marker: string): string {
  return Array.from(marker, (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`).join('');
}
