/** Who may see the jobs of this subgraph. Pure: no database, no clock. */
import { type JobVisibility, jobVisibilityOf } from '@trestle/chassis/jobs/job';
import type { Caller } from '@trestle/identity';

/** Returns the jobs of this subgraph that a caller may see. */
export function contentJobVisibility(caller: Caller | null): JobVisibility {
  return jobVisibilityOf(caller, 'videos:write');
}
