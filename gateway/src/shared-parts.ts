/** What the parts of a graph get from its process. */
import type { RateLimits } from '@trestle/limits/settings';
import type { Log } from '@trestle/log';
import type { Admission } from '@trestle/service/admission/admission';
import type { Edge } from '@trestle/service/edge/edge';
import type { Tracing } from '@trestle/telemetry';
import type { Registry } from 'prom-client';
import type { StartPlanner } from './plan/threads/planner-thread.ts';
import type { SendBuffers } from './transports/delivery/send-buffers.ts';
import type { Compression } from './transports/http/compression.ts';
import type { CallbackRegistry } from './upstream/subscriptions/callbacks/callback-registry.ts';

/** What all graphs of a process share. */
export interface SharedParts {
  readonly tracing: Tracing;
  readonly admission: Admission;
  readonly rateLimits: RateLimits;
  readonly edge: Edge;
  readonly buffers: SendBuffers;
  readonly compression: Compression;
  /** Starts planners; undefined for threads of this process. */
  readonly startPlanner: StartPlanner | undefined;
  /** Receives events of subgraphs by callbacks; undefined where no address for them is set. */
  readonly callbacks: CallbackRegistry | undefined;
}

/** What parts report to. */
export interface Observers {
  readonly log: Log;
  readonly metrics: Registry;
}
