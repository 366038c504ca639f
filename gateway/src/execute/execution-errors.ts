/**
 * The errors of an execution: those that subgraphs report, at their paths in the result, and those of failed fetches, at each field that is
 * missing because of them (GraphQL §7.1.2: a path names the field of the response that has the error).
 */
import type { FetchStep, Program, Shape, ValueFault } from '../program/program.ts';
import { isRenamed, toResponsePath } from '../program/response-key.ts';
import type { ErrorPath, ResultError, SubgraphError } from '../program/result.ts';
import { createFaultSearch } from './fault-service.ts';

/** The most errors for the missing fields of one failure; the last one counts the others. */
const MAX_PLACES = 100;

interface Failure {
  readonly error: ResultError;
  readonly keys: ReadonlySet<string>;
  /** The path of the error when no field is missing because of it. */
  readonly path: ErrorPath | undefined;
  readonly places: ErrorPath[];
  count: number;
}

/** Returns the paths of the entity with this index in its batch. */
export type PlacesOf = (index: number) => readonly ErrorPath[];

/** The fetch whose response has errors. */
export interface Reported {
  readonly step: FetchStep;
  /** For a fetch of entities. */
  readonly placesOf?: PlacesOf;
  /** Returns the paths of the objects that get the fields of a fetch without entities; default: the result itself. */
  readonly objects?: (() => readonly ErrorPath[]) | undefined;
  /** Whether the response had no data. */
  readonly isWhole: boolean;
}

export class ExecutionErrors {
  readonly #program: Pick<Program, 'source' | 'plan'>;
  readonly #shape: Shape;
  readonly #reported: ResultError[] = [];
  readonly #failures = new Set<Failure>();
  /** By the path of the objects whose fields may be missing; `@` is any element of a list. */
  readonly #byPlace = new Map<string, Failure[]>();
  /** Fields that reported errors explain without naming them: those of a response without data, and those of an error without a path. */
  readonly #unnamed = new Set<string>();
  readonly #missing = new Set<string>();

  constructor(program: Pick<Program, 'shape' | 'source' | 'plan'>) {
    this.#program = program;
    this.#shape = program.shape;
  }

  /** Whether there is no error so far. */
  get isEmpty(): boolean {
    return this.#reported.length === 0 && this.#failures.size === 0;
  }

  /** Whether the writer has to report missing fields: they are the paths of failures. */
  get hasFailures(): boolean {
    return this.#failures.size > 0;
  }

  /** Adds the errors that a subgraph reported. */
  addReported(errors: readonly unknown[], { step, placesOf, objects, isWhole }: Reported): void {
    // The subgraph returned no data because of these errors, also for fields whose values it had.
    if (isWhole && errors.length > 0) this.#explainAll(step);
    for (const each of errors) {
      const { message, path: own, extensions } = readError(each, step.service);
      const path = own && restoreNames(own, step);
      const error: ResultError = { message, extensions: { ...extensions, service: step.service } };
      const [first, index, ...rest] = path ?? [];
      if (placesOf && first === '_entities' && typeof index === 'number') {
        const found = extensions['masked'] === true ? firstOfEachPath(placesOf(index)) : placesOf(index);
        if (found.length === 0) this.#addUnplaced(error, step, isWhole);
        else
          this.#addAt(
            error,
            found.slice(0, MAX_PLACES).map((place) => [...place, ...rest]),
            found.length,
          );
      } else if (path && !placesOf) {
        const places = objects?.() ?? [toPrefix(step.path)];
        this.#addAt(
          error,
          places.slice(0, MAX_PLACES).map((place) => [...place, ...path]),
          places.length,
        );
      } else this.#addUnplaced(error, step, isWhole);
    }
  }

  /** Adds the failure of a whole fetch. */
  addFailure({ keys, paths }: FetchStep, error: ResultError): void {
    for (const place of paths) {
      const visible = this.#visibleLength(place);
      if (visible === place.length) this.#failAt(error, place, keys);
      else this.#failAt(error, place.slice(0, visible), []);
    }
  }

  /** Notes that a field of the result was not fetched. */
  readonly noteMissing = (path: ErrorPath): void => {
    const key = path.at(-1);
    const pattern = toPattern(path.slice(0, -1));
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

  /** Returns the errors of the result; `faults` are values that violate the schema, unless an error explains them already. */
  finish(faults: readonly ValueFault[]): ResultError[] {
    return this.complete(faults).map(toClientError);
  }

  /** Returns the errors as `finish` does, with the response keys of fetches in their paths. */
  complete(faults: readonly ValueFault[]): ResultError[] {
    const errors = [...this.#reported];
    for (const { error, places, path, count } of this.#failures)
      errors.push(...toErrors(error, places.length > 0 ? places : [path], count));
    if (faults.length === 0) return errors;
    const explained = new Set<string>();
    const above = new Set<string>();
    for (const { path } of errors) {
      if (!path) continue;
      explained.add(toKey(path));
      for (let length = 0; length <= path.length; length++) above.add(toKey(path.slice(0, length)));
    }
    const isExplained = (path: ErrorPath) => {
      if (above.has(toKey(path)) || this.#missing.has(toKey(path))) return true;
      const pattern = toPattern(path);
      for (let length = 1; length <= path.length; length++)
        if (explained.has(toKey(path.slice(0, length))) || this.#unnamed.has(toKey(pattern.slice(0, length)))) return true;
      return false;
    };
    const findService = createFaultSearch(this.#program);
    for (const { message, path } of faults) {
      if (isExplained(path)) continue;
      const service = findService(path);
      errors.push({ message, path, extensions: service === undefined ? { code: 'UPSTREAM_ERROR' } : { code: 'UPSTREAM_ERROR', service } });
    }
    return errors;
  }

  /** Adds an error at its paths. A field that the client did not select has no path: the error moves to the fields that are missing because of it. */
  #addAt(error: ResultError, paths: readonly ErrorPath[], count: number): void {
    const [first = []] = paths;
    const visible = this.#visibleLength(first);
    if (visible === first.length) {
      this.#reported.push(...toErrors(error, paths, count));
      return;
    }
    for (const path of paths) this.#failAt(error, path.slice(0, visible), []);
  }

  #addUnplaced(error: ResultError, step: FetchStep, isWhole: boolean): void {
    if (isWhole && step.path.length > 0) {
      this.addFailure(step, error);
      return;
    }
    if (step.path.length === 0) this.#explainAll(step);
    for (const path of step.paths) {
      const visible = this.#visibleLength(path);
      if (visible < path.length) this.#failAt(error, path.slice(0, visible), []);
      else this.#reported.push(path.length > 0 ? { ...error, path: toPrefix(path) } : error);
    }
  }

  #explainAll({ keys, paths }: FetchStep): void {
    for (const place of paths) for (const key of keys) this.#unnamed.add(toKey([...place, key]));
  }

  /** Adds a failure because of which fields of the objects at this place may be missing. */
  #failAt(error: ResultError, place: ErrorPath, keys: readonly string[]): void {
    const failure: Failure = { error, keys: new Set(keys), path: toFailedPath(place, keys), places: [], count: 0 };
    const key = toKey(place);
    const others = this.#byPlace.get(key);
    this.#failures.add(failure);
    if (others) others.push(failure);
    else this.#byPlace.set(key, [failure]);
  }

  /** Returns how many segments of a path the client selected. */
  #visibleLength(path: ErrorPath): number {
    if (this.#shape.length === 0) return path.length;
    let at = 0;
    for (const [i, segment] of path.entries()) {
      if (typeof segment === 'number' || segment === '@') continue;
      const next = this.#shape[at]?.[segment];
      if (next === undefined) return i;
      at = next;
    }
    return path.length;
  }
}

/** Returns an error of `complete` with the path that the client sees. */
export function toClientError(error: ResultError): ResultError {
  return error.path?.some(isRenamed) ? { ...error, path: toResponsePath(error.path) } : error;
}

/** Returns one error for each path; when there are more than paths, the last one counts them. Names each property, because spreads are slow. */
function toErrors({ message, extensions, cause }: ResultError, paths: readonly (ErrorPath | undefined)[], count: number): ResultError[] {
  return paths.map((path, i) => {
    const others = i === paths.length - 1 ? count - paths.length : 0;
    return { message, path, extensions: others > 0 ? { ...extensions, count: others + 1 } : extensions, cause };
  });
}

/** Returns the well-formed parts of an error that a subgraph reports. */
export function readError(
  error: unknown,
  service: string,
): { message: string; path: ErrorPath | undefined; extensions: Record<string, unknown> } {
  const { message, path, extensions } = (typeof error === 'object' && error !== null ? error : {}) as SubgraphError;
  return {
    message: typeof message === 'string' ? message : `The subgraph ${service} reported an error without a message.`,
    path:
      Array.isArray(path) && path.length > 0 && path.every((each) => typeof each === 'string' || Number.isInteger(each))
        ? (path as ErrorPath)
        : undefined,
    extensions:
      typeof extensions === 'object' && extensions !== null && !Array.isArray(extensions) ? (extensions as Record<string, unknown>) : {},
  };
}

/** Replaces the response keys of a fetch by those of the client. */
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

/** Returns the first of the paths that differ only in the indexes of lists. */
function firstOfEachPath(paths: readonly ErrorPath[]): ErrorPath[] {
  const firsts = new Map<string, ErrorPath>();
  for (const path of paths) {
    const pattern = toKey(toPattern(path));
    if (!firsts.has(pattern)) firsts.set(pattern, path);
  }
  return [...firsts.values()];
}

/** Returns the path of a failure when no field is known to be missing because of it: another field may have made the data null. */
function toFailedPath(place: ErrorPath, keys: readonly string[]): ErrorPath | undefined {
  if (place.length > 0) return toPrefix(place);
  return keys.length === 1 ? keys : undefined;
}

/** Returns the part of a fetch's path that all of its objects share. */
function toPrefix(path: ErrorPath): ErrorPath {
  const list = path.indexOf('@');
  return list < 0 ? path : path.slice(0, list);
}

/** Replaces the indexes of lists by `@`. */
function toPattern(path: ErrorPath): string[] {
  return path.map((segment) => (typeof segment === 'number' ? '@' : segment));
}

function toKey(path: ErrorPath): string {
  return path.join('\n');
}
