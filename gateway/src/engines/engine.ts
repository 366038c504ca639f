/** The interface of the two engines, `trestle` and `apollo`; GATEWAY_ENGINE chooses one. */
import type { OperationRequest, OperationResult } from '../request/operation.ts';

export interface Engine {
  /** Calls back once, never with an exception: every failure is in the result. A subscription calls its subscriber instead. */
  execute(request: OperationRequest, done: (result: OperationResult) => void): void;
  /** Serves another supergraph from now on. Requests in flight end on the one they began with. Rejects, and changes nothing, for an invalid one. */
  swap(supergraphSdl: string): Promise<void>;
  /** The hash of the supergraph that is served. */
  readonly hash: string;
  stop(): Promise<void>;
}
