/** Everything derived from one supergraph: its planner, its subgraphs, and the operations planned for it. Replaced as a whole. */
import { link } from '../program/operation.ts';
import type { PlannerThread } from '../plan/planner-thread.ts';
import type { Prepared } from '../plan/planner.ts';
import type { Upstream, Upstreams } from '../upstream/upstream.ts';
import { createLabelChoice } from './override-labels.ts';
import { type DocumentRequest, PreparedOperations, type Ready } from './prepared-operations.ts';

export interface Snapshot {
  readonly hash: string;
  readonly planner: PlannerThread;
  /** Returns an operation that is planned already. */
  readonly find: (request: DocumentRequest) => Ready | undefined;
  /** Plans an operation unless it is planned already. Planning time is shared fairly between clients. */
  readonly prepare: (request: DocumentRequest, client?: string) => Promise<Ready>;
  /** Returns a subgraph by its name. */
  readonly upstream: (service: string) => Upstream | undefined;
  /** Returns the documents that were used most, the most used first. */
  readonly mostUsed: (count: number) => DocumentRequest[];
  readonly counts: { readonly hits: number; readonly misses: number };
}

export interface SnapshotOptions {
  readonly planner: PlannerThread;
  readonly upstreams: Upstreams;
  /** Active labels of `@override`; labels such as `percent(20)` are decided for each request. */
  readonly labels: readonly string[];
  readonly random?: () => number;
}

/** Creates the snapshot of the planner's supergraph. */
export function createSnapshot({ planner, upstreams, labels, random = Math.random }: SnapshotOptions): Snapshot {
  const { facts } = planner;
  const operations = new PreparedOperations();
  const preparing = new Map<string, Promise<Ready>>();
  const byName = new Map(facts.subgraphs.map(({ name, url }) => [name, upstreams.open(name, url)]));
  const chooseLabels = createLabelChoice(facts.labels, labels, random);
  const prepareNow = async (key: string, request: DocumentRequest & { labels: readonly string[] }, client: string | undefined) => {
    const prepared = await planner.prepare(request, client);
    const ready = toReady(prepared);
    const { query, operationName } = request;
    operations.set(key, { request: { query, operationName }, ready, prepared });
    return ready;
  };
  return {
    hash: facts.hash,
    planner,
    find: (request) => operations.get(toKey(request, chooseLabels())),
    prepare({ query, operationName }, client) {
      const chosen = chooseLabels();
      const key = toKey({ query, operationName }, chosen);
      const inFlight = preparing.get(key);
      if (inFlight) return inFlight;
      operations.countMiss();
      const ready = prepareNow(key, { query, operationName, labels: chosen }, client).finally(() => preparing.delete(key));
      preparing.set(key, ready);
      return ready;
    },
    upstream: (service) => byName.get(service),
    mostUsed: (count) => operations.mostUsed(count),
    get counts() {
      return operations.counts;
    },
  };
}

function toKey({ query, operationName }: DocumentRequest, labels: readonly string[]): string {
  return operationName === undefined && labels.length === 0 ? query : `${labels.join()}\n${operationName ?? ''}\n${query}`;
}

function toReady(prepared: Prepared): Ready {
  if ('program' in prepared) return { operation: link(prepared.program) };
  return { errors: prepared.errors, isPlanned: prepared.isPlanned ?? false, reason: prepared.reason };
}
