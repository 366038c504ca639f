/** What deleted resources leave behind, and who learns that they existed (contract §2, §3). */
import { createRowLoader } from './loaders.ts';

/** What is left of a resource that was deleted. */
export interface Tombstone {
  readonly id: string;
  /** The account that saw the resource, besides callers who see those of all accounts; null for one that anybody could see. */
  readonly ownerId: string | null;
  /** The author of a post; null for other resources, and for posts that were deleted before it was kept. */
  readonly authorId?: string | null;
}

/** Returns the tombstones with these ids. */
export type FindDeleted = (ids: readonly string[]) => Promise<readonly Tombstone[]>;

/** A caller by what they see: the resources of all accounts, or the public ones and those of one account. */
export type Viewer = 'all' | { readonly ownerId: string | null };

/** Returns whether the caller could see the resource before it was deleted. */
export function couldSee(viewer: Viewer, { ownerId }: Tombstone): boolean {
  return ownerId === null || viewer === 'all' || viewer.ownerId === ownerId;
}

/**
 * Returns what creates the `wasDeleted` of lookups: true for resources that were deleted and that the caller could see; with `authorId` not for
 * posts of other authors. One statement for all.
 */
export function createWasDeleted(findDeleted: FindDeleted): (viewer: Viewer, authorId?: string) => (id: string) => Promise<boolean> {
  const tombstones = createRowLoader(findDeleted, ({ id }) => id);
  return (viewer, authorId) => async (id) => {
    const tombstone = await tombstones.load(id);
    if (!tombstone || !couldSee(viewer, tombstone)) return false;
    return authorId === undefined || tombstone.authorId == null || tombstone.authorId === authorId;
  };
}
