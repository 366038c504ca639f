/** After how many seconds a client may send a refused request again. */
import type { Fault } from './errors.ts';

const DEFAULT_SECONDS = 1;

/** Returns the seconds that the fault says; 1 for SERVICE_UNAVAILABLE without them, because every 503 has `Retry-After` (spec §8). */
export function retryAfterOf({ code, retryAfterSeconds }: Pick<Fault, 'code' | 'retryAfterSeconds'>): number | undefined {
  return retryAfterSeconds ?? (code === 'SERVICE_UNAVAILABLE' ? DEFAULT_SECONDS : undefined);
}
