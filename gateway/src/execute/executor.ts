/** The interface of the two executors: EXECUTOR chooses one. */
import type { ExecutionRequest, Executed } from './execute.ts';
import { execute } from './execute.ts';
import type { Written } from '../program/program.ts';
import type { ResultError } from '../program/result.ts';

/** `bytes` works on the bytes of responses as far as an operation and its responses allow (ADR 23); `objects` makes objects of them. */
export const EXECUTORS = ['bytes', 'objects'] as const;
export type ExecutorName = (typeof EXECUTORS)[number];

/** What is to be executed, and for which reports. */
export interface ExecutorRequest extends ExecutionRequest {
  /** Whether the data are needed as objects. */
  readonly needsObjects: boolean;
  /** Whether an assembled result needs its actual cost. */
  readonly needsCost: boolean;
}

/** A result whose data are written already. */
export interface Assembled {
  readonly assembled: Written;
  readonly errors: readonly ResultError[];
  /** The actual cost; undefined when it is not needed. */
  readonly cost: number | undefined;
}

export interface Executor {
  /** Executes the whole plan and calls back once, with or without errors. */
  execute(request: ExecutorRequest, done: (result: Executed | Assembled) => void): void;
}

/** Executes every operation with objects. */
export const OBJECT_EXECUTOR: Executor = { execute };
