/** The messages between the primary process and its workers. Requests have an id, which their reply repeats. */
import type { Count } from '@trestle/limits/sliding-windows';
import type { ErrorCode } from '@trestle/schema/errors';
import type { AcceptedFiles } from '../configuration/file/accepted-files.ts';
import type { PlannerSeed, PlannerTask } from '../plan/threads/planner-messages.ts';
import type { SupergraphFacts } from '../plan/planner.ts';
import type { Location } from '../program/program.ts';

/** A metric as `Registry.getMetricsAsJSON` writes it. */
export type MetricFacts = object;

/** What workers send to the planner that they share. `key` names the supergraph and the settings that it plans with. */
export type ToPlanner =
  /** Without a seed only a planner that runs is opened. */
  | { readonly kind: 'open planner'; readonly id: number; readonly key: string; readonly seed?: PlannerSeed }
  | {
      readonly kind: 'plan';
      readonly id: number;
      readonly key: string;
      readonly task: PlannerTask;
      readonly client: string | undefined;
      readonly isShared: boolean;
    }
  | { readonly kind: 'close planner'; readonly key: string }
  | { readonly kind: 'ping planner' };

/** What they get from it. */
export type FromPlanner =
  | { readonly kind: 'planner opened'; readonly id: number; readonly facts: SupergraphFacts }
  /** No planner runs for the key: a seed is needed. */
  | { readonly kind: 'planner unknown'; readonly id: number }
  /** `isPassing` says that the supergraph may be valid. */
  | { readonly kind: 'planner refused'; readonly id: number; readonly reason: string; readonly isPassing: boolean }
  /** A result of the planner, serialized by `node:v8`. */
  | { readonly kind: 'planned'; readonly id: number; readonly result: Uint8Array }
  | { readonly kind: 'not planned'; readonly id: number; readonly fault: PlanFault }
  | { readonly kind: 'planner pong' };

/** A fault of planning, as it crosses the channel. */
export interface PlanFault {
  readonly code: ErrorCode;
  readonly message: string;
  readonly locations?: readonly Location[];
  /** For the log. */
  readonly reason?: string;
}

/** Units of a window, as `SlidingWindows.take` takes them. */
export interface Take {
  readonly key: string;
  readonly limit: number;
  readonly units: number;
  /** Units that the worker would like in advance. */
  readonly advance: number;
}

/** The reply: whether the units were taken, and how many were granted in advance. */
export interface Taken extends Count {
  readonly granted: number;
}

/** What workers send. */
export type FromWorker =
  | ToPlanner
  /** The first message of each worker. */
  | { readonly kind: 'read configuration' }
  /** The configuration files that the worker has applied after a change. */
  | { readonly kind: 'applied configuration'; readonly files: AcceptedFiles }
  | { readonly kind: 'take'; readonly id: number; readonly takes: readonly Take[] }
  | { readonly kind: 'refund'; readonly key: string; readonly units: number; readonly slot: number }
  /** The reply to `ping`. */
  | { readonly kind: 'pong' }
  | { readonly kind: 'read metrics'; readonly id: number }
  /** The reply to `collect`: the metrics of each of its registries. */
  | { readonly kind: 'collected'; readonly id: number; readonly metrics: readonly MetricFacts[] };

/** What the primary sends. */
export type FromPrimary =
  | FromPlanner
  /** The files with which every worker starts, and those that workers have applied since, if any. */
  | { readonly kind: 'configuration'; readonly accepted: AcceptedFiles; readonly applied: AcceptedFiles | undefined }
  | { readonly kind: 'taken'; readonly id: number; /** In the order of the takes. */ readonly counts: readonly Taken[] }
  | { readonly kind: 'metrics'; readonly id: number; readonly text: string }
  | { readonly kind: 'collect'; readonly id: number }
  | { readonly kind: 'ping' };
