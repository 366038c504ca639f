/** Fetches that were sent before an operation was handed over to the object executor, so that none is sent twice. */
import type { FetchStep } from '../program/program.ts';
import type { FetchDone, SubgraphError, SubgraphFailure, SubgraphResult } from '../program/result.ts';

/** How the entities of a fetch are to be put into another order: how many there are, and the index of each that is wanted. */
interface Order {
  readonly count: number;
  readonly from: readonly number[];
}

/** A fetch whose response has arrived, or will. */
export class ReceivedFetch {
  /** Undefined for a fetch at the root. */
  readonly representations: string | undefined;
  #outcome: { readonly failure: SubgraphFailure | null; readonly result: SubgraphResult } | undefined;
  #done: FetchDone | undefined;

  constructor(representations: string | undefined) {
    this.representations = representations;
  }

  /** Sets how it ended. */
  settle(failure: SubgraphFailure | null, result: SubgraphResult): void {
    this.#outcome = { failure, result };
    this.#done?.(failure, result);
  }

  /** Calls back once, as soon as it has ended. */
  take(done: FetchDone): void {
    if (this.#outcome) done(this.#outcome.failure, this.#outcome.result);
    else this.#done = done;
  }
}

export class ReceivedFetches {
  readonly #byStep = new Map<FetchStep, ReceivedFetch>();

  add(step: FetchStep, fetch: ReceivedFetch): void {
    this.#byStep.set(step, fetch);
  }

  /** Returns the fetch that was sent for a step, if it had all of these representations. Its entities are in their order. */
  find(step: FetchStep, representations: string | undefined): Pick<ReceivedFetch, 'take'> | undefined {
    const fetch = this.#byStep.get(step);
    if (!fetch || fetch.representations === representations) return fetch;
    if (fetch.representations === undefined || representations === undefined) return undefined;
    const order = findOrder(fetch.representations, representations);
    return (
      order && {
        take(done) {
          fetch.take((failure, result) => {
            done(failure, reorder(result, order));
          });
        },
      }
    );
  }
}

/** Returns where each representation stands among those that were sent; undefined when one was not. At several paths their order may be another. */
function findOrder(sent: string, wanted: string): Order | undefined {
  const read = (text: string) => (JSON.parse(`[${text}]`) as unknown[]).map((each) => JSON.stringify(each));
  const places = new Map(read(sent).map((each, i) => [each, i]));
  const from = read(wanted).map((each) => places.get(each));
  return from.every((each) => each !== undefined) ? { count: places.size, from } : undefined;
}

/** Puts the entities of a result, and its errors, into another order. A list of another length stays wrong. */
function reorder(result: SubgraphResult, { count, from }: Order): SubgraphResult {
  const { data, errors } = result;
  const entities = data?.['_entities'];
  const numbers = new Map(from.map((index, to) => [index, to]));
  const ordered = Array.isArray(entities) && entities.length === count ? from.map((index) => entities[index] as unknown) : null;
  return {
    ...result,
    ...(data && { data: { ...data, _entities: ordered } }),
    ...(errors && { errors: errors.flatMap((error) => renumber(error, numbers)) }),
  };
}

/** Returns an error with the new index of its entity; none for an entity that is not wanted. */
function renumber(error: SubgraphError, numbers: ReadonlyMap<number, number>): SubgraphError[] {
  const { path } = (error as SubgraphError | null) ?? {};
  if (!Array.isArray(path) || path[0] !== '_entities' || typeof path[1] !== 'number') return [error];
  const index = numbers.get(path[1]);
  return index === undefined ? [] : [{ ...error, path: ['_entities', index, ...(path as unknown[]).slice(2)] }];
}
