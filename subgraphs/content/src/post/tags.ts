/** The tags of a post: in lower case, without duplicates, sorted. No I/O. */
import { checkString } from '@trestle/chassis/values/strings';
import type { FieldFault } from '@trestle/schema/errors';

const MAX_TAGS = 20;
const MAX_TAG_CHARACTERS = 50;

/** Converts a tag to the form in which it is stored and compared. */
export function toTag(tag: string): string {
  return tag.trim().toLowerCase();
}

/** Converts tags to the form in which they are stored. */
export function toTags(tags: readonly string[]): string[] {
  return [...new Set(tags.map(toTag))].sort();
}

/** Returns the faults of tags, each with the index of the tag. */
export function checkTags(tags: readonly string[] | null): FieldFault[] {
  if (tags === null) return [{ field: 'tags', message: 'must not be null' }];
  const faults = tags.flatMap((tag, i) => checkString(toTag(tag), { field: `tags.${String(i)}`, min: 1, max: MAX_TAG_CHARACTERS }));
  return toTags(tags).length > MAX_TAGS ? [{ field: 'tags', message: `must have at most ${String(MAX_TAGS)} items` }, ...faults] : faults;
}
