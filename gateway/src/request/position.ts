/** Positions in a subscription: a client that lost its connection continues after the last position that it received (ADR 11). No I/O. */
import { fail, rejectFaults } from '@trestle/schema/errors';

/** A request for positions. `after` is the last position that the client received. */
export interface Resume {
  readonly after?: string;
}

const FIELD = 'extensions.resume';
const MAX_CHARACTERS = 4000;

/** Parses `extensions.resume` of a request. Returns undefined for a client that does not ask for positions. Throws VALIDATION_ERROR. */
export function readResume(extensions: Readonly<Record<string, unknown>>): Resume | undefined {
  const { resume } = extensions;
  if (resume === undefined) return undefined;
  const { after } = (resume ?? {}) as { readonly after?: unknown };
  if (typeof resume !== 'object' || resume === null || Array.isArray(resume))
    rejectFaults([{ field: FIELD, message: 'must be an object' }]);
  if (after === undefined) return {};
  if (typeof after !== 'string' || after.length > MAX_CHARACTERS || !toPair(after))
    rejectFaults([{ field: `${FIELD}.after`, message: 'must be a position that the server sent' }]);
  return { after: after as string };
}

/** Returns a subgraph's position as clients see it: opaque, and a valid id of a server-sent event (no line ends). */
export function toClientPosition(service: string, position: string): string {
  return Buffer.from(JSON.stringify([service, position])).toString('base64url');
}

/** Returns the subgraph's own position. Throws GONE for a position of another subgraph: the field has moved since. */
export function toSourcePosition(service: string, after: string): string {
  const [from, position] = toPair(after) ?? [];
  if (from !== service || position === undefined) throw gone();
  return position;
}

export const GONE_MESSAGE = 'The events after this position are no longer available. Subscribe again without `resume.after`.';

function gone(): Error {
  return fail('GONE', GONE_MESSAGE);
}

function toPair(text: string): readonly [string, string] | undefined {
  try {
    const pair = JSON.parse(Buffer.from(text, 'base64url').toString()) as unknown;
    const isPair = Array.isArray(pair) && pair.length === 2 && pair.every((part) => typeof part === 'string');
    return isPair ? (pair as unknown as readonly [string, string]) : undefined;
  } catch {
    return undefined;
  }
}
