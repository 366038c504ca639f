/** Parses how a subscriber resumes after a lost connection: `extensions.resume` of a `subscribe` message (ADR 24). No I/O. */
import { rejectFaults } from '@trestle/schema/errors';
import { type ClientPosition, parseClientPosition } from '../events/source-streams/client-position.ts';

/** Present for a subscriber that wants positions. */
export interface Resume {
  /** The last position that the subscriber has received. */
  readonly after?: ClientPosition;
  /** After this many events the subscription completes; the subscriber subscribes again for more. */
  readonly first?: number;
}

/** Returns undefined for a subscriber that does not want positions. Throws VALIDATION_ERROR. */
export function parseResume(extensions: Readonly<Record<string, unknown>> | null | undefined): Resume | undefined {
  const resume = extensions?.['resume'];
  if (resume === undefined) return undefined;
  if (typeof resume !== 'object' || resume === null || Array.isArray(resume)) {
    rejectFaults([{ field: 'extensions.resume', message: 'must be an object' }]);
    return undefined;
  }
  const { after, first } = resume as { readonly after?: unknown; readonly first?: unknown };
  const position = typeof after === 'string' ? parseClientPosition(after) : undefined;
  if (after !== undefined && !position)
    rejectFaults([{ field: 'extensions.resume.after', message: 'must be a position from an earlier response' }]);
  if (first !== undefined && !(Number.isSafeInteger(first) && Number(first) > 0))
    rejectFaults([{ field: 'extensions.resume.first', message: 'must be a whole number of at least 1' }]);
  return { ...(position && { after: position }), ...(first !== undefined && { first: Number(first) }) };
}
