/**
 * The errors of an execution: those that subgraphs told, at their places in the result, and those of fetches that failed, at each field that is
 * missing because of them (GraphQL §7.1.2: a path names the field of the response that has the error).
 */
import type { FetchStep, Shape, ValueFault } from '../program/program.ts';
import { TYPENAME_ALIAS, toResponseKey } from '../program/response-key.ts';

/** An error as it stands in a result, before the transport finishes it. */
export interface AnswerError {
  readonly message: string;
  readonly path?: ErrorPath | undefined;
  readonly extensions: Record<string, unknown>;
  /** For the log only. */
  readonly cause?: unknown;
}

export type ErrorPath = readonly (string | number)[];

/** What a subgraph told; nothing of it is certain. */
export interface SubgraphError {
  readonly message?: unknown;
  readonly path?: unknown;
  readonly extensions?: unknown;
}

/** Fields that are missing stand for so many errors at most; the last one counts the rest. */
const MAX_PLACES = 100;

interface Failure {
  readonly error: AnswerError;
  readonly keys: ReadonlySet<string>;
  /** Where it is told when no field is missing because of it. */
  readonly path: ErrorPath | undefined;
  readonly places: ErrorPath[];
  count: number;
}

/** Where the entity that has this number in its batch stands in the result. */
export type PlacesOf = (index: number) => readonly ErrorPath[];

export class ExecutionErrors {
  readonly #shape: Shape;
  readonly #told: AnswerError[] = [];
  readonly #failures = new Set<Failure>();
  /** By where the objects stand of which fields may be missing; `@` is any element of a list. */
  readonly #byPlace = new Map<string, Failure[]>();
  /** Root fields of which a subgraph told an error without a path. */
  readonly #unplacedKeys = new Set<string>();
  readonly #missing = new Set<string>();

  constructor(shape: Shape) {
    this.#shape = shape;
  }

  /** Whether there is no error so far. */
  get isEmpty(): boolean {
    return this.#told.length === 0 && this.#failures.size === 0;
  }

  /** Whether the writer has to say which fields are missing: a failure has no place of its own. */
  get hasFailures(): boolean {
    return this.#failures.size > 0;
  }

  /** Adds what a subgraph told beside its data; `placesOf` for entities. `isWhole` says that no data came with it. */
  addAnswered(errors: readonly unknown[], { step, placesOf, isWhole }: { step: FetchStep; placesOf?: PlacesOf; isWhole: boolean }): void {
    for (const each of errors) {
      const { message, path: own, extensions } = readError(each, step.service);
      const path = own && restoreNames(own, step);
      const error: AnswerError = { message, extensions: { ...extensions, service: step.service } };
      const [first, index, ...rest] = path ?? [];
      if (placesOf && first === '_entities' && typeof index === 'number') {
        const found = extensions['masked'] === true ? placesOf(index).slice(0, 1) : placesOf(index);
        if (found.length === 0) this.#addUnplaced(error, step, isWhole);
        else
          this.#addAt(
            error,
            found.slice(0, MAX_PLACES).map((place) => [...place, ...rest]),
            found.length,
          );
      } else if (path && !placesOf) this.#addAt(error, [[...toPrefix(step.path), ...path]], 1);
      else this.#addUnplaced(error, step, isWhole);
    }
  }

  /** Adds that a fetch brought nothing at all. */
  addFailure(step: FetchStep, error: AnswerError): void {
    const path = step.path.length > 0 ? toPrefix(step.path) : undefined;
    const failure: Failure = { error, keys: new Set(step.keys), path, places: [], count: 0 };
    for (const place of step.places)
      this.#fail(
        failure,
        place.map(({ key }) => key),
      );
  }

  /** Notes that a field of the result was never fetched. */
  readonly noteMissing = (path: ErrorPath): void => {
    const key = path.at(-1);
    const pattern = path.slice(0, -1).map((segment) => (typeof segment === 'number' ? '@' : segment));
    for (let length = path.length - 1; length >= 0; length--) {
      const failures = [
        ...(this.#byPlace.get(toKey(path.slice(0, length))) ?? []),
        ...(this.#byPlace.get(toKey(pattern.slice(0, length))) ?? []),
      ];
      const failure = failures.find(({ keys }) => keys.has(String(key))) ?? (length === 0 ? undefined : failures[0]);
      if (!failure) continue;
      failure.count++;
      if (failure.places.length < MAX_PLACES) failure.places.push([...path]);
      this.#missing.add(toKey(path));
      return;
    }
  };

  /** Returns the errors of the result; `faults` says why values are null against the schema, of which an error may tell already. */
  finish(faults: readonly ValueFault[]): AnswerError[] {
    return this.#complete(faults).map((error) => (error.path?.includes(TYPENAME_ALIAS) ? toClientPath(error, error.path) : error));
  }

  #complete(faults: readonly ValueFault[]): AnswerError[] {
    const errors = [...this.#told];
    for (const { error, places, path, count } of this.#failures)
      errors.push(...toErrors(error, places.length > 0 ? places : [path], count));
    if (faults.length === 0) return errors;
    const told = new Set<string>();
    const above = new Set<string>();
    for (const { path } of errors) {
      if (!path) continue;
      told.add(toKey(path));
      for (let length = 0; length <= path.length; length++) above.add(toKey(path.slice(0, length)));
    }
    const isTold = (path: ErrorPath) => {
      if (above.has(toKey(path)) || this.#missing.has(toKey(path)) || this.#unplacedKeys.has(String(path[0]))) return true;
      for (let length = 1; length <= path.length; length++) if (told.has(toKey(path.slice(0, length)))) return true;
      return false;
    };
    for (const { message, path } of faults) if (!isTold(path)) errors.push({ message, path, extensions: { code: 'UPSTREAM_ERROR' } });
    return errors;
  }

  /** What the client did not ask for, such as a field that another one requires, has no place in the result: what is missing because of it has. */
  #addAt(error: AnswerError, paths: readonly ErrorPath[], count: number): void {
    const [first = []] = paths;
    const visible = this.#visibleLength(first);
    if (visible === first.length) {
      this.#told.push(...toErrors(error, paths, count));
      return;
    }
    for (const path of paths) {
      const place = path.slice(0, visible);
      this.#fail({ error, keys: new Set(), path: place.length > 0 ? place : undefined, places: [], count: 0 }, place);
    }
  }

  #addUnplaced(error: AnswerError, step: FetchStep, isWhole: boolean): void {
    if (isWhole && step.path.length > 0) {
      this.addFailure(step, error);
      return;
    }
    if (step.path.length === 0) for (const key of step.keys) this.#unplacedKeys.add(key);
    this.#told.push(step.path.length > 0 ? { ...error, path: toPrefix(step.path) } : error);
  }

  #fail(failure: Failure, place: ErrorPath): void {
    const key = toKey(place);
    const others = this.#byPlace.get(key);
    this.#failures.add(failure);
    if (others) others.push(failure);
    else this.#byPlace.set(key, [failure]);
  }

  /** How many segments of a path name what the client asked for. */
  #visibleLength(path: ErrorPath): number {
    if (this.#shape.length === 0) return path.length;
    let at = 0;
    for (const [i, segment] of path.entries()) {
      if (typeof segment === 'number') continue;
      const next = this.#shape[at]?.[segment];
      if (next === undefined) return i;
      at = next;
    }
    return path.length;
  }
}

function toClientPath(error: AnswerError, path: ErrorPath): AnswerError {
  return { ...error, path: path.map((segment) => (typeof segment === 'string' ? toResponseKey(segment) : segment)) };
}

/** One error for each path; where they stand for more places, the last one says for how many. */
function toErrors(error: AnswerError, paths: readonly (ErrorPath | undefined)[], count: number): AnswerError[] {
  return paths.map((path, i) => {
    const others = i === paths.length - 1 ? count - paths.length : 0;
    return { ...error, ...(path && { path }), extensions: others > 0 ? { ...error.extensions, count: others + 1 } : error.extensions };
  });
}

/** Returns what can be relied on of an error that a subgraph reports. */
export function readError(
  error: unknown,
  service: string,
): { message: string; path: ErrorPath | undefined; extensions: Record<string, unknown> } {
  const { message, path, extensions } = (typeof error === 'object' && error !== null ? error : {}) as SubgraphError;
  return {
    message: typeof message === 'string' ? message : `The subgraph ${service} reported an error without a message`,
    path:
      Array.isArray(path) && path.length > 0 && path.every((each) => typeof each === 'string' || Number.isInteger(each))
        ? (path as ErrorPath)
        : undefined,
    extensions:
      typeof extensions === 'object' && extensions !== null && !Array.isArray(extensions) ? (extensions as Record<string, unknown>) : {},
  };
}

/** The path with the keys under which the client asked for what was fetched under others. */
function restoreNames(path: ErrorPath, { rewrites }: FetchStep): ErrorPath {
  if (rewrites.length === 0) return path;
  return path.map((segment) => {
    const rewrite = rewrites.find(({ path: from }) => {
      const last = from.at(-1);
      return last !== undefined && 'key' in last && last.key === segment;
    });
    return rewrite?.to ?? segment;
  });
}

/** As much of a fetch's path as is the same for all of its objects. */
function toPrefix(path: readonly string[]): readonly string[] {
  const list = path.indexOf('@');
  return list < 0 ? path : path.slice(0, list);
}

function toKey(path: ErrorPath): string {
  return path.join('\n');
}
