/** Chooses how a subgraph answers a request: what it changes in its response, and how it sends it. Both follow from the marker. */
import { SPOILERS, STYLES, type Spoiler } from '../executors/spoil.ts';
import { hash } from '../random.ts';

/** How a response is sent. `stall` sends it after the gateway's time limit, `reset` resets the connection within it. */
export type Delivery = 'whole' | 'parts' | 'delay' | 'close' | 'status 500' | 'reset' | 'stall';

export interface Behaviour {
  readonly spoiler: Spoiler;
  readonly delivery: Delivery;
  /** Whether the result is still that of graphql-js. */
  readonly isFaultless: boolean;
}

const NOTHING: Spoiler = { name: 'nothing' };
const FAULTS: ReadonlySet<Delivery> = new Set(['status 500', 'reset', 'stall']);
/** Most responses are whole and as requested, as they are in production: else the executor on bytes would pause. */
const PLAIN_SHARE = 0.88;
const DELIVERIES: readonly (readonly [Delivery, number])[] = [
  ['delay', 0.06],
  ['parts', 0.04],
  ['close', 0.01],
  ['status 500', 0.002],
  ['reset', 0.003],
  ['stall', 0.0005],
];

/** Returns how a subgraph answers the requests with a marker. */
export function behaviourOf(marker: string, service: string): Behaviour {
  const index = Math.floor((hash(`spoiler ${marker} ${service}`) / PLAIN_SHARE - 1) * (PLAIN_SHARE / (1 - PLAIN_SHARE)) * SPOILERS.length);
  const spoiler = (index < 0 ? undefined : SPOILERS[index]) ?? NOTHING;
  const delivery = deliveryOf(hash(`delivery ${marker} ${service}`));
  return { spoiler, delivery, isFaultless: STYLES.has(spoiler.name) && !FAULTS.has(delivery) };
}

function deliveryOf(drawn: number): Delivery {
  let sum = 0;
  return DELIVERIES.find(([, share]) => drawn < (sum += share))?.[0] ?? 'whole';
}
