/** The tags of a post: in lower case, each once, in the order of the alphabet. No I/O. */
import { checkText } from '@trestle/chassis/values/text';
import type { FieldFault } from '@trestle/schema/errors';

const MAX_TAGS = 20;
const MAX_TAG_CHARACTERS = 50;

/** Writes a tag as it is kept and compared. */
export function toTag(text: string): string {
  return text.trim().toLowerCase();
}

/** Writes the tags as they are kept. */
export function toTags(texts: readonly string[]): string[] {
  return [...new Set(texts.map(toTag))].sort();
}

/** Says what is wrong with the tags, each by its place in the list. */
export function checkTags(texts: readonly string[] | null): FieldFault[] {
  if (texts === null) return [{ field: 'tags', message: 'must not be null' }];
  const faults = texts.flatMap((text, i) => checkText(toTag(text), { field: `tags.${String(i)}`, min: 1, max: MAX_TAG_CHARACTERS }));
  return toTags(texts).length > MAX_TAGS ? [{ field: 'tags', message: `must be at most ${String(MAX_TAGS)}` }, ...faults] : faults;
}
