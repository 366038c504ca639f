/** Everything derived from one supergraph: its planner, its subgraphs, and the operations planned for it. Replaced as a whole. */
import { type Access, FULL_ACCESS, decideAll } from '../access/access-rule.ts';
import type { AccessOf } from '../access/callers.ts';
import { link } from '../program/operation.ts';
import type { PlannerThread } from '../plan/threads/planner-thread.ts';
import type { Prepared } from '../plan/planner.ts';
import { type Measure, NOT_MEASURED, type RequestContext } from '../request/context.ts';
import type { ConfiguredUpstreams, Upstream } from '../upstream/upstream.ts';
import type { ServedLaunch } from '../launches/delivered.ts';
import { type LabelSettings, type LabelledRequest, createLabelChoice } from './override-labels.ts';
import { type DocumentRequest, type Executable, PreparedOperations, type Ready, type UsedDocument } from './prepared-operations.ts';

export interface Snapshot {
  readonly hash: string;
  /** Undefined for a supergraph that does not come from the registry. A later release may have the same supergraph. */
  launch: ServedLaunch | undefined;
  readonly planner: PlannerThread;
  /** Returns an operation that is planned already for the labels of a request and the rights of its caller, as far as it depends on them. */
  readonly find: (request: DocumentRequest, context: PlannedFor) => Executable | undefined;
  /** Plans an operation unless it is planned already. Planning time is shared fairly between clients. */
  readonly prepare: (request: DocumentRequest, options: PrepareOptions) => Promise<Executable>;
  /** Returns the rights of a request. */
  readonly accessOf: (context: RightsSource) => Access;
  /** Returns a subgraph by its name. */
  readonly upstream: (service: string) => Upstream | undefined;
  /** Returns the documents that were used most, the most used first. */
  readonly mostUsed: (count: number) => UsedDocument[];
  readonly counts: { readonly hits: number; readonly misses: number };
  /** Called once, when other requests are not served by it any more. Those in flight end as they would have. */
  readonly retire: () => void;
}

/** What the rights of a request depend on. */
export type RightsSource = Pick<RequestContext, 'caller' | 'isOfOperator'>;

/** What a plan may depend on, beside the document. */
export type PlannedFor = LabelledRequest & RightsSource;

export interface PrepareOptions {
  readonly access: Access;
  readonly client?: string | undefined;
  /** The request that chooses labels of `@override`; without it `labels` do, and without these the settings. */
  readonly context?: LabelledRequest | undefined;
  readonly labels?: readonly string[];
}

export interface SnapshotOptions {
  readonly planner: PlannerThread;
  readonly launch?: ServedLaunch | undefined;
  readonly upstreams: ConfiguredUpstreams;
  /** Measures how much time new plans of each client take outside of the planner's thread; not measured by default. */
  readonly measure?: Measure;
  /** Labels such as `percent(20)` are decided for each request. */
  readonly labels: LabelSettings;
  readonly accessOf: AccessOf;
}

/** Creates the snapshot of the planner's supergraph. */
export function createSnapshot({ planner, launch, upstreams, measure = NOT_MEASURED, labels, accessOf }: SnapshotOptions): Snapshot {
  const { facts } = planner;
  const operations = new PreparedOperations();
  const byName = new Map(facts.subgraphs.map(({ name, url }) => [name, upstreams.open(name, url)]));
  const chooseLabels = createLabelChoice(facts.labels, labels);
  const prepareOnce = createPreparer({ planner, operations, measure });
  const accessOfRequest = ({ caller, isOfOperator = false }: RightsSource) => (isOfOperator ? FULL_ACCESS : accessOf(caller));
  return {
    hash: facts.hash,
    launch,
    planner,
    accessOf: accessOfRequest,
    find(request, context) {
      const key = toKey(request, chooseLabels(context));
      const ready = operations.get(key);
      if (ready === undefined || !('rules' in ready)) return ready;
      return operations.get(toVariantKey(key, outcomeOf(ready, accessOfRequest(context)))) as Executable | undefined;
    },
    async prepare(request, { access, client, context, labels: wanted }) {
      const chosen = wanted ? facts.labels.filter((label) => wanted.includes(label)) : chooseLabels(context);
      const key = toKey(request, chosen);
      const preparation = { request, labels: chosen, access, client };
      const known = operations.peek(key);
      const ready = known && 'rules' in known ? known : await prepareOnce(key, preparation);
      if (!('rules' in ready)) return ready;
      const outcome = outcomeOf(ready, access);
      return (await prepareOnce(toVariantKey(key, outcome), { ...preparation, outcome })) as Executable;
    },
    upstream: (service) => byName.get(service),
    mostUsed: (count) => operations.mostUsed(count),
    get counts() {
      return operations.counts;
    },
    retire() {
      planner.retire();
      upstreams.retire();
    },
  };
}

interface Preparation extends UsedDocument {
  readonly client: string | undefined;
  readonly outcome?: string;
}

interface Preparer extends Required<Pick<SnapshotOptions, 'planner' | 'measure'>> {
  readonly operations: PreparedOperations;
}

/** Returns a function that plans a document, once for all requests that wait for it, and keeps the result under `key`. */
function createPreparer({ planner, operations, measure }: Preparer) {
  const inFlight = new Map<string, Promise<Ready>>();
  const prepareNow = async (key: string, { request, labels, access, client, outcome }: Preparation): Promise<Ready> => {
    const { query, operationName, incremental } = request;
    const prepared = await planner.prepare({ query, operationName, labels, outcome, isIncremental: defers(request) }, client);
    let ready: Ready | undefined;
    measure(client, () => {
      ready = toReady(prepared);
      operations.set(key, { request: { query, operationName, incremental }, access, labels, ready, prepared });
    });
    return ready as Ready;
  };
  return (key: string, preparation: Preparation): Promise<Ready> => {
    const waiting = inFlight.get(key);
    if (waiting) return waiting;
    operations.countMiss();
    const ready = prepareNow(key, preparation).finally(() => inFlight.delete(key));
    inFlight.set(key, ready);
    return ready;
  };
}

/** Returns the outcome of a document's rules, which is computed once for callers with the same rights. */
function outcomeOf({ rules, outcomes }: Extract<Ready, { rules: unknown }>, access: Access): string {
  const known = outcomes.get(access);
  if (known !== undefined) return known;
  const outcome = decideAll(rules, access);
  outcomes.set(access, outcome);
  return outcome;
}

/**
 * The key of a document is its text, which may be any text: it is looked up before it is parsed. Every other key begins with U+0000 and the letter of
 * its kind, and gives the length of what could contain its end, so that no request can have the key of another one.
 */
function toKey(request: DocumentRequest, labels: readonly string[]): string {
  const key = toDocumentKey(request, labels);
  return defers(request) ? `\0d${key}` : key;
}

function toDocumentKey({ query, operationName }: DocumentRequest, labels: readonly string[]): string {
  if (operationName === undefined && labels.length === 0) return query.startsWith('\0') ? `\0t${query}` : query;
  const name = operationName === undefined ? '' : `${String(operationName.length)}:${operationName}`;
  return `\0n${labels.join()}\n${name}\n${query}`;
}

/** Whether deferred fragments of a document are planned as such. */
function defers({ query, incremental }: DocumentRequest): boolean {
  return incremental !== undefined && query.includes('@defer');
}

/** `outcome` consists of digits. */
function toVariantKey(key: string, outcome: string): string {
  return `\0v${outcome}\n${key}`;
}

function toReady(prepared: Prepared): Ready {
  if ('program' in prepared) return { operation: link(prepared.program) };
  if ('rules' in prepared) return { rules: prepared.rules, outcomes: new WeakMap() };
  return { errors: prepared.errors, isPlanned: prepared.isPlanned ?? false, reason: prepared.reason };
}
