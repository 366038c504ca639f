/** Stage 4: what the write's own SQL has to check first (RFC 9110 §13.1.1). No I/O. */
import { readExpectedVersions } from '../http/conditional.ts';
import type { Row } from '../routes/row.ts';

/** The variables that make a write conditional; reads are checked against their answer, by the renderer. */
export function check({ method }: Row, ifMatch: string | undefined): { expectedVersions?: readonly number[] } {
  const expectedVersions = method === 'GET' ? undefined : readExpectedVersions(ifMatch);
  return expectedVersions === undefined ? {} : { expectedVersions };
}
