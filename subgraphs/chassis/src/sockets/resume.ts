/** Reads how a subscriber wants to go on after a lost connection: `extensions.resume` of a `subscribe` message (ADR 8). No I/O. */
import { rejectFaults } from '@trestle/schema/errors';

/** Asked for with positions; `after` is the last one that the subscriber has seen. After `first` events it completes: the subscriber asks for more when it wants more. */
export interface Resume {
  readonly after?: number;
  readonly first?: number;
}

/** Positions are whole numbers, far below what a double can't tell apart. */
const POSITION = /^(?:0|[1-9]\d{0,14})$/;

/** Undefined for a subscriber that knows nothing of positions. Throws VALIDATION_ERROR. */
export function readResume(extensions: Readonly<Record<string, unknown>> | null | undefined): Resume | undefined {
  const resume = extensions?.['resume'];
  if (resume === undefined) return undefined;
  if (typeof resume !== 'object' || resume === null || Array.isArray(resume)) {
    rejectFaults([{ field: 'extensions.resume', message: 'must be an object' }]);
    return undefined;
  }
  const { after, first } = resume as { readonly after?: unknown; readonly first?: unknown };
  if (after !== undefined && (typeof after !== 'string' || !POSITION.test(after)))
    rejectFaults([{ field: 'extensions.resume.after', message: 'must be a position that was given' }]);
  if (first !== undefined && !(Number.isSafeInteger(first) && Number(first) > 0))
    rejectFaults([{ field: 'extensions.resume.first', message: 'must be a whole number from 1 on' }]);
  return { ...(after !== undefined && { after: Number(after) }), ...(first !== undefined && { first: Number(first) }) };
}
