/** Which clients are in the share of a canary. No I/O. */
import type { RequestContext } from '../request/context.ts';

/** What of a request decides. */
export type SharedRequest = Pick<RequestContext, 'caller' | 'client' | 'identity' | 'requestId'>;

/**
 * Returns the function that decides, for each request the same as for others of its client: by the value of the header when the client sends it, else by
 * the subject of its token, else by its address. Another launch has other clients in its share.
 */
export function createClientShare({
  launch,
  percent,
  header,
}: {
  readonly launch: string;
  readonly percent: number;
  readonly header: string | undefined;
}): (request: SharedRequest) => boolean {
  return (request) => toShare(`${launch}\n${readClientKey(request, header)}`) < percent;
}

function readClientKey({ caller, client, identity, requestId }: SharedRequest, header: string | undefined): string {
  if (header !== undefined)
    for (let i = 0; i + 1 < identity.length; i += 2) if (identity[i] === header) return `header ${identity[i + 1] ?? ''}`;
  if (caller) return `subject ${caller.userId}`;
  return `client ${client ?? requestId}`;
}

/** Returns a number from 0 to 100, less than 100, that is the same for the same text and evenly distributed (FNV-1a with a final mix). */
export function toShare(text: string): number {
  let hash = 0x811c9dc5;
  for (let i = 0; i < text.length; i++) hash = Math.imul(hash ^ text.charCodeAt(i), 0x01000193);
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
  return (((hash ^ (hash >>> 16)) >>> 0) / 2 ** 32) * 100;
}
