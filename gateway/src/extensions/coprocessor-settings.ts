/** The settings of the coprocessor. They are apart from it because only a gateway with one loads its HTTP client. */

/** The stages that a coprocessor can be called at. */
export const COPROCESSOR_STAGES = [
  ...(['onRequest', 'onContext', 'onOperation', 'onPlan', 'onSubscribe', 'onSubgraphRequest', 'onResponse'] as const),
] as const;
export type CoprocessorStage = (typeof COPROCESSOR_STAGES)[number];

/** What a coprocessor that gives no usable response does to what it was called for: it is refused, or goes on. */
export const FAILURE_POLICIES = ['refuse', 'pass'] as const;

/** How the coprocessor is called at one stage. */
export interface StageSettings {
  readonly stage: CoprocessorStage;
  readonly url: string;
  /** The time limit of a call. */
  readonly timeoutMs: number;
  readonly onFailure: (typeof FAILURE_POLICIES)[number];
}

export interface CoprocessorSettings {
  readonly stages: readonly StageSettings[];
  /** Names, in lower case, of the request headers that it gets. */
  readonly headers: readonly string[];
}
