/** The planner as the serving thread sees it: questions and answers, and a new thread in place of one that is stuck or has died. */
import { Worker } from 'node:worker_threads';
import { fail } from '@trestle/schema/errors';
import type { Limits } from '../limits/limits.ts';
import type { PlannerAnswer, PlannerQuestion, PlannerSeed } from './planner-worker.ts';
import type { PrepareRequest, Prepared, SupergraphFacts } from './planner.ts';

export interface PlannerThreadLimits {
  /** An operation that takes longer than this to plan is refused: its planner is ended, and whoever waited behind it is asked for again. */
  readonly timeoutMs: number;
  /** The largest heap of a planner; one that outgrows it dies alone. */
  readonly maxHeapMb: number;
}

const THREAD_LIMITS: PlannerThreadLimits = { timeoutMs: 10_000, maxHeapMb: 2048 };
/** Garbage is short-lived and much of it is not worth its memory. */
const YOUNG_HEAP_MB = 16;

/** Threads run what was compiled, also for tests that run this file as it is. */
const WORKER = new URL(import.meta.url.endsWith('.ts') ? '../../dist/plan/planner-worker.js' : './planner-worker.js', import.meta.url);

export interface PlannerThread {
  readonly facts: SupergraphFacts;
  /** Throws VALIDATION_ERROR for what takes too long to plan, INTERNAL_ERROR when planning fails by our own fault. */
  prepare(request: PrepareRequest): Promise<Prepared>;
  introspect(request: PrepareRequest, variables: Readonly<Record<string, unknown>>): Promise<Record<string, string>>;
  /** Ends once every question is answered. */
  retire(): void;
  stop(): Promise<void>;
}

const WRONG = 'Something went wrong on our side';

interface Open {
  readonly question: PlannerQuestion;
  readonly resolve: (answer: PlannerAnswer) => void;
  readonly reject: (error: Error) => void;
}

/** Rejects with the reason when the supergraph is not one that can be served. */
export async function startPlannerThread(sdl: string, limits: Limits, { timeoutMs, maxHeapMb } = THREAD_LIMITS): Promise<PlannerThread> {
  const open = new Map<number, Open>();
  let nextId = 0;
  let isStopped = false;
  let isRetired = false;
  /** Questions that come before the thread is up are sent to it then, and no time runs for them. */
  let isUp = false;
  let timer: NodeJS.Timeout | undefined;
  let worker: Worker;

  const start = () =>
    new Promise<SupergraphFacts>((resolve, reject) => {
      const started = new Worker(WORKER, {
        workerData: { sdl, limits } satisfies PlannerSeed,
        resourceLimits: { maxOldGenerationSizeMb: maxHeapMb, maxYoungGenerationSizeMb: YOUNG_HEAP_MB },
      });
      started.unref();
      worker = started;
      started.on('message', (answer: PlannerAnswer) => {
        if (answer.kind === 'ready') {
          isUp = true;
          resolve(answer.facts);
        } else if (answer.kind === 'refused') reject(new Error(answer.reason));
        else settle(answer);
      });
      started.on('error', reject);
      started.on('exit', () => {
        reject(new Error('The planner ended before it was ready'));
        // One that never came up would not the next time either.
        if (isUp) replace();
      });
    });

  const settle = (answer: PlannerAnswer & { readonly id: number }) => {
    const asked = open.get(answer.id);
    open.delete(answer.id);
    watch();
    endIfRetired();
    asked?.resolve(answer);
  };
  /** The oldest question is the one that is worked on. */
  const watch = () => {
    if (timer) clearTimeout(timer);
    timer = isUp && open.size > 0 ? setTimeout(() => void worker.terminate(), timeoutMs).unref() : undefined;
  };
  const replace = () => {
    isUp = false;
    if (isStopped) return;
    const [culprit] = open.values();
    if (culprit) {
      open.delete(culprit.question.id);
      culprit.reject(fail('VALIDATION_ERROR', 'The operation takes too much time or memory to plan'));
    }
    watch();
    start().then(
      () => {
        for (const { question } of open.values()) worker.postMessage(question);
        watch();
      },
      (error: unknown) => {
        isStopped = true;
        for (const { reject } of open.values()) reject(fail('INTERNAL_ERROR', WRONG, { cause: error }));
        open.clear();
      },
    );
  };
  const endIfRetired = () => {
    if (!isRetired || open.size > 0) return;
    isStopped = true;
    void worker.terminate();
  };
  const ask = (make: (id: number) => PlannerQuestion) =>
    new Promise<PlannerAnswer>((resolve, reject) => {
      if (isStopped) throw fail('INTERNAL_ERROR', WRONG, { cause: new Error('The planner could not be started again') });
      const question = make(nextId++);
      open.set(question.id, { question, resolve, reject });
      if (!isUp) return;
      if (open.size === 1) watch();
      worker.postMessage(question);
    }).then((answer) => {
      if (answer.kind === 'failed') throw fail('INTERNAL_ERROR', WRONG, { cause: new Error(answer.reason) });
      return answer;
    });

  const facts = await start();
  return {
    facts,
    async prepare(request) {
      const answer = await ask((id) => ({ id, kind: 'prepare', request }));
      return answer.kind === 'prepared' ? answer.prepared : { errors: [] };
    },
    async introspect(request, variables) {
      const answer = await ask((id) => ({ id, kind: 'introspect', request, variables }));
      return answer.kind === 'introspected' ? answer.texts : {};
    },
    retire() {
      isRetired = true;
      endIfRetired();
    },
    async stop() {
      isStopped = true;
      if (timer) clearTimeout(timer);
      for (const { reject } of open.values()) reject(fail('SERVICE_UNAVAILABLE', 'The gateway is going down'));
      open.clear();
      await worker.terminate();
    },
  };
}
