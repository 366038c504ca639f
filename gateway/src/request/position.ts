/** How far a client has come in a stream: as it is told, and as it tells it to go on from there (ADR 11). No I/O. */
import { fail, rejectFaults } from '@trestle/schema/errors';

/** Asked for with positions; `after` is the last one that the client was told. */
export interface Resume {
  readonly after?: string;
}

const FIELD = 'extensions.resume';
const MAX_CHARACTERS = 4000;

/** Reads `extensions.resume` of a request: undefined for a client that knows nothing of positions. Throws VALIDATION_ERROR. */
export function readResume(extensions: Readonly<Record<string, unknown>>): Resume | undefined {
  const { resume } = extensions;
  if (resume === undefined) return undefined;
  const { after } = (resume ?? {}) as { readonly after?: unknown };
  if (typeof resume !== 'object' || resume === null || Array.isArray(resume))
    rejectFaults([{ field: FIELD, message: 'must be an object' }]);
  if (after === undefined) return {};
  if (typeof after !== 'string' || after.length > MAX_CHARACTERS || !toPair(after))
    rejectFaults([{ field: `${FIELD}.after`, message: 'must be a position that was given' }]);
  return { after: after as string };
}

/** A position of one subgraph, as clients see it: opaque, and fit to be an event's id (no line ends). */
export function toClientPosition(service: string, position: string): string {
  return Buffer.from(JSON.stringify([service, position])).toString('base64url');
}

/** What is to be said to the subgraph. Throws GONE for a position of another one: since then the field has moved. */
export function toSourcePosition(service: string, after: string): string {
  const [from, position] = toPair(after) ?? [];
  if (from !== service || position === undefined) throw gone();
  return position;
}

export const GONE_MESSAGE = 'What happened since that position is no longer known';

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
