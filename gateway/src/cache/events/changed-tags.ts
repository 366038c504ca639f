/** What an event has changed: the tags of the results that it invalidates. No I/O. */
import { ALL_TAG, isTag, toReceivedTag, toTypeTag } from '../received-tags.ts';

/** The response key whose values are tags. */
const TAG_KEY = 'cacheTag';

/** Beyond this number of tags everything is invalidated. */
const MAX_CHANGED_TAGS = 1000;
const EVERYTHING: readonly string[] = [ALL_TAG];

/**
 * Returns the tags for the result of an event: of each object the values of its field `cacheTag`, and without such a field its type. Returns {@link ALL_TAG}
 * for a result with errors or with a value that is no tag, because what has changed is then unknown.
 */
export function toChangedTags(result: unknown): readonly string[] {
  const { data, errors } = result as { readonly data?: unknown; readonly errors?: unknown };
  const tags = new Set<string>();
  const isKnown = errors === undefined && collect(data, tags) && tags.size > 0 && tags.size <= MAX_CHANGED_TAGS;
  return isKnown ? [...tags] : EVERYTHING;
}

/** Adds the tags of a value and of what it contains. Returns false when they are not known. */
function collect(value: unknown, tags: Set<string>): boolean {
  if (typeof value !== 'object' || value === null) return true;
  if (tags.size > MAX_CHANGED_TAGS) return false;
  if (Array.isArray(value)) return value.every((item) => collect(item, tags));
  const { [TAG_KEY]: own, __typename: type, ...others } = value as Readonly<Record<string, unknown>>;
  if (own !== undefined && own !== null) {
    if (!addTags(own, tags)) return false;
  } else if (typeof type === 'string') tags.add(toTypeTag(type));
  return Object.values(others).every((each) => collect(each, tags));
}

function addTags(value: unknown, tags: Set<string>): boolean {
  if (Array.isArray(value)) return value.every((item) => addTags(item, tags));
  const tag = typeof value === 'number' ? String(value) : value;
  if (typeof tag !== 'string' || !isTag(tag)) return false;
  tags.add(toReceivedTag(tag));
  return true;
}
