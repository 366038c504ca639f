/** Rejects requests that browsers send across sites without asking (Fetch Metadata Request Headers). */
import type { IncomingMessage } from 'node:http';
import { fail } from '@trestle/schema/errors';

/**
 * Rejects what browsers send across sites without a preflight request (forms, images, links), so that another site cannot use a visitor's network
 * access. A POST needs `application/json`, which requires a preflight, or another header that does (`upload.ts`); clients that are no browsers do not
 * send these headers.
 */
export function rejectCrossSite({ headers }: IncomingMessage): void {
  const site = headers['sec-fetch-site'];
  const isCrossSite = site === 'cross-site' || site === 'same-site';
  if (isCrossSite && headers['sec-fetch-mode'] !== 'cors') throw fail('FORBIDDEN', 'Requests from other sites must use CORS.');
}
