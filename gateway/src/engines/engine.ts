/** The interface of the two engines, `trestle` and `apollo`; GATEWAY_ENGINE chooses one. */
import type { AccessOf } from '../access/callers.ts';
import type { SubgraphErrors } from '../errors/format-error.ts';
import type { Limits } from '../limits/limits.ts';
import type { OperationDescription } from '../request/operation-description.ts';
import type { OperationRequest, OperationResult } from '../request/operation.ts';
import type { LabelSettings } from '../supergraph/override-labels.ts';
import type { CanaryReturn, ServedSupergraph } from '../launches/delivered.ts';
import type { SubgraphAddresses } from '../upstream/upstream.ts';

/** The settings that can change while the process runs. */
export interface RuntimeSettings {
  readonly limits: Limits;
  /** Of progressive `@override`. */
  readonly labels: LabelSettings;
  /** Returns the rights of a caller, for `@authenticated`, `@requiresScopes` and `@policy`. */
  readonly accessOf: AccessOf;
  /** What clients see of subgraphs' errors. */
  readonly subgraphErrors: SubgraphErrors;
  readonly addresses: SubgraphAddresses;
}

export interface Engine {
  /** Calls back once, never with an exception: every failure is in the result. A subscription calls its subscriber instead. */
  execute(request: OperationRequest, done: (result: OperationResult) => void): void;
  /** Serves what a source has delivered from now on. Requests in flight end on the one they began with. Rejects, and changes nothing, for an invalid one. */
  swap(supergraphSdl: string): Promise<void>;
  /**
   * Uses other settings from now on. Requests in flight end with those they began with. Rejects, and changes nothing, when that is not possible.
   * `onSwitch` is called in the moment in which requests begin with the other settings, and must not throw. Undefined for an engine that uses settings
   * at its start only.
   */
  readonly reconfigure?: (settings: RuntimeSettings, onSwitch: () => void) => Promise<void>;
  /** Describes the operations of a document for agents. Rejects for a document that is not valid. Undefined for an engine that cannot. */
  readonly describe?: (query: string) => Promise<readonly OperationDescription[]>;
  /** The hash of the supergraph that is served. */
  readonly hash: string;
  /** What is served: the current supergraph, and that of a canary if there is one. */
  readonly served: readonly ServedSupergraph[];
  /** Calls back when a canary is ended here. Undefined for an engine that serves no canaries. */
  readonly watchReturns?: (notify: (ended: CanaryReturn) => void) => void;
  stop(): Promise<void>;
}
