/** The settings of the coprocessor. They are apart from it because only a gateway with one loads its HTTP client. */

/** The stages that a coprocessor can be called at. */
export const COPROCESSOR_STAGES = [
  ...(['onRequest', 'onContext', 'onOperation', 'onPlan', 'onSubscribe', 'onSubgraphRequest', 'onResponse'] as const),
] as const;
export type CoprocessorStage = (typeof COPROCESSOR_STAGES)[number];

export interface CoprocessorSettings {
  readonly url: string;
  readonly stages: readonly CoprocessorStage[];
  /** Names, in lower case, of the request headers that it gets. */
  readonly headers: readonly string[];
}
